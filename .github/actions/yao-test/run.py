"""Runs yao-test with the arguments in ARGUMENTS and four reports. The exit code becomes an output of the step, which
itself ends with 0, because later steps store the reports. yao-test writes annotations and the summary of the job.
"""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from words import words_of

reports = Path(os.environ["RUNNER_TEMP"], f"yao-test-{os.environ.get('GITHUB_ACTION', 'run')}")
shutil.rmtree(reports, ignore_errors=True)
reports.mkdir(parents=True)
command = ["yao-test", *words_of("ARGUMENTS")]
for name in ("report.jsonl", "report.html", "report.md", "junit.xml"):
    command += ["-o", str(reports / name)]
print(shlex.join(command), flush=True)
code = subprocess.run(command).returncode
with open(os.environ["GITHUB_OUTPUT"], "a", encoding="utf-8") as output:
    output.write(f"exit-code={code if code >= 0 else 128 - code}\nreports={reports}\n")
sys.exit(0)
