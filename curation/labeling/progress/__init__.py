"""How far rounds are: forecast, remarks and pilots."""
