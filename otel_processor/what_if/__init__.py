"""What other thresholds would have flagged over the stored history: judged in memory, nothing is written."""
