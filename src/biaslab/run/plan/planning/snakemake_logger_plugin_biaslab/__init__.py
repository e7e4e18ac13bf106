"""A Snakemake logger plugin that writes the planned jobs of a dry run to a file, one JSON list a line."""

import json
import os
from logging import LogRecord

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from biaslab.run.plan.jobs import VARIABLE

_FIELDS = ("rule_name", "input", "output", "shellcmd")


class LogHandler(LogHandlerBase):
    """Append each planned job to the file in the environment variable BIASLAB_JOBS."""

    writes_to_stream = writes_to_file = has_filter = has_formatter = needs_rulegraph = False

    def emit(self, record: LogRecord) -> None:
        """Write the record of a job; skip other records."""
        if getattr(record, "event", None) == LogEvent.JOB_INFO:
            job = [getattr(record, name) for name in _FIELDS]
            with open(os.environ[VARIABLE], "a", encoding="utf-8") as file:
                file.write(json.dumps(job) + "\n")
