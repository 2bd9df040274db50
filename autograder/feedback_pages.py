"""Write feedback pages without compiling nbconvert's templates for every page."""

from jinja2 import BytecodeCache, Environment
from jinja2.bccache import Bucket
from nbconvert.exporters import HTMLExporter


class MemoryCache(BytecodeCache):
    """Keep compiled templates as long as the process lives."""

    def __init__(self) -> None:
        """Begin with none."""
        self._compiled: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill a bucket if its template, unchanged since, was compiled before."""
        if bucket.key in self._compiled:
            bucket.bytecode_from_string(self._compiled[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a compiled template."""
        self._compiled[bucket.key] = bucket.bytecode_to_string()


COMPILED = MemoryCache()


class FeedbackExporter(HTMLExporter):
    """nbconvert's HTML exporter, with templates compiled once a process."""

    def _create_environment(self) -> Environment:
        environment = super()._create_environment()
        environment.bytecode_cache = COMPILED
        return environment
