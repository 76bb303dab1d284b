"""Model clients: how a request becomes a reply, one file a provider."""
