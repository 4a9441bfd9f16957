"""`--cluster`: modules and cases of a plan run on the workers of a Dask cluster.

| process | what it does | module |
| --- | --- | --- |
| the command | divides the plan, hands out pieces, takes events | `dispatch`, `feed`, `ledger`, `connection` |
| a Dask worker | starts a runner process for each piece, passes on what it says | `station_work` |
| the runner process | runs a piece as the command would | `piece_runner` |

Pieces are given to one worker each, by its id, and Dask runs none of them a second time: what is lost with a worker is
given out again by the command, and only for tests without a result.
"""
