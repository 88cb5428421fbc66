"""What the documents show runs: every Python block, and the notebooks."""

import re
from pathlib import Path

import nbformat
import pytest
from conftest import ROOT
from nbclient import NotebookClient

PAGES = ["README.md", "docs/python.md"]
NOTEBOOKS = sorted((ROOT / "examples/python").glob("*.ipynb"))


@pytest.mark.parametrize("page", PAGES)
def test_the_python_of_a_page_runs_from_top_to_bottom(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / page).read_text()
    # A text right after it is what it prints.
    blocks = re.findall(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", text, flags=re.MULTILINE | re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block, shown in blocks:
        exec(compile(block, page, "exec"), names)
        printed = capsys.readouterr()
        assert printed.err == ""
        assert shown in ("", printed.out)


def test_the_page_begins_with_five_lines() -> None:
    first = (ROOT / "docs/python.md").read_text().split("```")[1]
    assert len([line for line in first.splitlines()[1:] if line]) <= 5


@pytest.mark.deep
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "clear its outputs"
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert [output.name for output in outputs if output.output_type == "stream" and output.name == "stderr"] == []
    pages = [output.data["text/html"] for output in outputs if "text/html" in output.get("data", {})]
    # The line of the progress, as the run left it, and the run itself.
    assert any("mle-star: ended" in page for page in pages)
    assert any("how the data was read" in page for page in pages)


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) == 2
