"""`--cluster`: runs modules and cases of a plan on the workers of a Dask cluster.

| process | what it does | module |
| --- | --- | --- |
| the command | divides the plan, gives out pieces, receives events | `dispatch`, `feed`, `ledger`, `connection` |
| a Dask worker | starts a runner process for each piece, and passes on its messages | `station_work` |
| the runner process | runs a piece as the command would | `piece_runner` |

Each piece is given to one worker, by its id, and Dask never runs it twice. If a worker is lost, the command gives its
work out again, but only tests without a result.
"""
