"""A generator that follows the sun: `generator` finds its waveform, `feed_in` its power in every row."""
