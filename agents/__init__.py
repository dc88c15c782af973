"""Everything that plays, learns or measures. Nothing here is imported by `bourre_env`."""
