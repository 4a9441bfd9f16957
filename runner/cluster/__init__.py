"""`--cluster`: runs modules and cases of a plan on the workers of a Dask cluster.

| process | what it does | module |
| --- | --- | --- |
| the command | divides the plan into work units, receives events | `dispatch`, `queue`, `connection` |
| a Dask worker | starts a runner process for each work unit, and passes on its messages | `worker_side` |
| the runner process | runs a work unit as the command would | `runner_process` |

Each work unit is given to one worker, by its id, and Dask never runs it twice. If a worker is lost, the command gives
its work out again, but only tests without a result."""
