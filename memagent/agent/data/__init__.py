"""All that is kept of a person, as a whole: erased, exported, imported, compared and repaired."""
