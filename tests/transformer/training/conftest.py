"""A run of three epochs that several test files use."""

import pytest
from small_runs import make_trainer


@pytest.fixture(scope="session")
def whole_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    trainer = make_trainer(folder)
    return trainer.run(), trainer.model.state_dict(), folder
