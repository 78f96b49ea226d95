"""ShapeDecoder: rows in time as a base plus shapes whose sizes vary, for loads that are more than on or off.

X_t = base + Σ_k a_k(t) s_k + noise, a_k(t) ≥ 0. The steps, one module each:

1. `noise`: the meter's own noise, from the changes between rows; the directions that hold signal.
2. `lines`: most changes hold one source, whatever its size, so the changes lie on lines through the origin.
   Lines are found one after the other, by how many changes lie on each. A sum of two lines needs none.
   What no sum explains is looked at again, with the wander of other loads as the tolerance.
3. `coding`: each change is written as a sum of at most three lines; sizes that recur are cheap. Lines that
   do not pay for what it costs to tell their direction are dropped, the others are refitted.
4. `amplitudes`: the base and all sizes in all rows at once, heavy-tailed changes, and a low quantile of every
   size at zero.
5. `levels`: where no sum of lines explains the rows, lines are looked for among the levels that last, to a
   tolerance; `wander` takes from the rows what changes from each to the next and does not last.
6. `pulses`, `parts`: one track of sizes as a sum of sources that are on or off: each rise with the fall that
   ends it, and which of these pulses are of one source.
7. `scales`: one track as a sum of a small source that varies and larger ones in sessions.
8. `fans`: shapes in one plane that change together are one load whose waveform changes with its level.
9. `machines`: tracks that switch together are one machine.
10. `leftover`: what is left of the total, given to the sources whose wander it is.
"""
