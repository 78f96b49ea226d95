"""SwitchingDecoder: binary features of rows in time that repeat exactly, and what tells alike ones apart."""
