"""Telling orders that are meant to last from other talk, in English and Chinese, by rules alone."""
