"""Test sets that sacreBLEU knows by name, if it has stored them on this machine; nothing is downloaded."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.base.faults import Fault


@dataclass(frozen=True)
class NamedSet:
    """The files of a test set in one language pair, and what a signature says about it."""

    source: Path
    references: list[Path]
    signature: str


def named_set(name: str, languages: str) -> NamedSet:
    """Return a set such as wmt20 in languages such as en-de."""
    from sacrebleu.dataset import DATASETS

    if name not in DATASETS:
        raise Fault(f"sacreBLEU has no test set '{name}'; `sacrebleu --list` shows those it has.")
    dataset = DATASETS[name]
    if languages not in dataset.langpairs:
        raise Fault(f"The test set {name} has no '{languages}'; it has {', '.join(dataset.langpairs)}.")
    fields = ["src", *_references(dataset, languages)]
    source, *references = (Path(dataset._get_txt_file_path(languages, field)) for field in fields)
    for path in [source, *references]:
        if not path.is_file():
            raise Fault(f"There is no {path}; `sacrebleu -t {name} -l {languages} --echo src` gets the test set.")
    return NamedSet(source, references, f"test:{name}|lang:{languages}")


def _references(dataset: Any, languages: str) -> list[str]:
    """Return the fields that are references; an XML set lists those that count, without a download."""
    from sacrebleu.dataset.wmt_xml import WMTXMLDataset

    if isinstance(dataset, WMTXMLDataset):
        return list(dataset._get_langpair_allowed_refs(languages))
    return [field for field in dataset.fieldnames(languages) if field.startswith("ref")]
