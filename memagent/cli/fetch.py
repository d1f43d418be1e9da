def fetch_if_needed(settings): pass
