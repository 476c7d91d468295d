"""The map of coverage with results: regions drawn and coloured by what systems reach in each."""
