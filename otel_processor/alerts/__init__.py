"""Where an alert is told: one sink a file. Log and metrics at once, the others through delivery rows (`delivery/`)."""
