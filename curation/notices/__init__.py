"""Notices: what a lead wants to hear of without looking, by e-mail or to a webhook."""
