"""The certificate: an exhaustive second search for ties across the parts."""
