"""The product measured: does the context hold its promises, over long conversations made by a seed?"""
