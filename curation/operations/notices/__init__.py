"""Notices: what a lead wants to hear of without looking, sent to a webhook."""
