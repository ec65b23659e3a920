"""The served languages: their names, alternative codes, and language detection."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Any

from regard.data.corpora.languages import identifier_of

_UNNAMED = ("", "src", "tgt")  # placeholders for unnamed languages
# Alternative codes for the same language.
_ALIASES = {"pb": "pt-br", "zt": "zh-hant", "iw": "he", "in": "id", "ji": "yi", "nb": "no", "fil": "tl", "mo": "ro"}
# Countries and scripts that mean the same variant.
_LIKE = {"zh-cn": "zh-hans", "zh-sg": "zh-hans", "zh-tw": "zh-hant", "zh-hk": "zh-hant", "zh": "zh-hans"}

# ISO 639: the code of a language and its English name.
_NAMES = """
aa Afar|ab Abkhazian|af Afrikaans|ak Akan|am Amharic|an Aragonese|ar Arabic|as Assamese|av Avaric|ay Aymara
az Azerbaijani|ba Bashkir|be Belarusian|bg Bulgarian|bi Bislama|bm Bambara|bn Bengali|bo Tibetan|br Breton|bs Bosnian
ca Catalan|ce Chechen|ceb Cebuano|ch Chamorro|co Corsican|cs Czech|cv Chuvash|cy Welsh|da Danish|de German|dv Divehi
dz Dzongkha|ee Ewe|el Greek|en English|eo Esperanto|es Spanish|et Estonian|eu Basque|fa Persian|ff Fulah|fi Finnish
fj Fijian|fo Faroese|fr French|fy Western Frisian|ga Irish|gd Scottish Gaelic|gl Galician|gn Guarani|gu Gujarati
gv Manx|ha Hausa|haw Hawaiian|he Hebrew|hi Hindi|hr Croatian|ht Haitian|hu Hungarian|hy Armenian|hz Herero
ia Interlingua|id Indonesian|ie Interlingue|ig Igbo|io Ido|is Icelandic|it Italian|iu Inuktitut|ja Japanese
jv Javanese|ka Georgian|kg Kongo|ki Kikuyu|kj Kuanyama|kk Kazakh|kl Kalaallisut|km Khmer|kn Kannada|ko Korean
kr Kanuri|ks Kashmiri|ku Kurdish|kv Komi|kw Cornish|ky Kyrgyz|la Latin|lb Luxembourgish|lg Ganda|li Limburgish
ln Lingala|lo Lao|lt Lithuanian|lv Latvian|mg Malagasy|mh Marshallese|mi Maori|mk Macedonian|ml Malayalam|mn Mongolian
mr Marathi|ms Malay|mt Maltese|my Burmese|na Nauru|ne Nepali|nl Dutch|nn Norwegian Nynorsk|no Norwegian|nv Navajo
ny Chichewa|oc Occitan|om Oromo|or Odia|os Ossetic|pa Punjabi|pi Pali|pl Polish|ps Pashto|pt Portuguese|qu Quechua
rm Romansh|rn Rundi|ro Romanian|ru Russian|rw Kinyarwanda|sa Sanskrit|sc Sardinian|sd Sindhi|se Northern Sami|sg Sango
si Sinhala|sk Slovak|sl Slovenian|sm Samoan|sn Shona|so Somali|sq Albanian|sr Serbian|ss Swati|st Southern Sotho
su Sundanese|sv Swedish|sw Swahili|ta Tamil|te Telugu|tg Tajik|th Thai|ti Tigrinya|tk Turkmen|tl Tagalog|tn Tswana
to Tongan|tr Turkish|ts Tsonga|tt Tatar|tw Twi|ty Tahitian|ug Uyghur|uk Ukrainian|ur Urdu|uz Uzbek|ve Venda
vi Vietnamese|vo Volapük|wa Walloon|wo Wolof|xh Xhosa|yi Yiddish|yo Yoruba|za Zhuang|zh Chinese|zu Zulu
"""
_VARIANTS = {
    "br": "Brazil", "pt": "Portugal", "hans": "simplified", "hant": "traditional", "cn": "China", "tw": "Taiwan",
    "gb": "United Kingdom", "us": "United States", "latn": "Latin", "cyrl": "Cyrillic", "mx": "Mexico",
}  # fmt: skip


@dataclass(frozen=True)
class Detected:
    """A language that a text may be in, and the confidence from 0 to 100."""

    language: str
    confidence: float


@cache
def _names() -> dict[str, str]:
    entries = (entry.partition(" ") for line in _NAMES.split("\n") if line for entry in line.split("|"))
    return {code: name for code, _, name in entries}


def is_named(code: str) -> bool:
    """Return True if a model's recipe names the language."""
    return code.lower() not in _UNNAMED


def name_of(code: str) -> str:
    """Return the English name of a language, or its code if the name is unknown, or "" for an unnamed language."""
    if not is_named(code):
        return ""
    first, _, variant = code.lower().replace("_", "-").partition("-")
    name = _names().get(first, code)
    return f"{name} ({_VARIANTS.get(variant, variant)})" if variant and name != code else name


def _normal(code: str) -> str:
    lower = code.strip().lower().replace("_", "-")
    lower = _ALIASES.get(lower, lower)
    return _LIKE.get(lower, lower)


def find_code(asked: str, known: Sequence[str]) -> str | None:
    """Return the known language that a code means: itself in any spelling, or else the nearest variant; or None."""
    normal = _normal(asked)
    exact = [code for code in known if _normal(code) == normal]
    near = [code for code in known if _normal(code).partition("-")[0] == normal.partition("-")[0]]
    return next(iter([*exact, *near]), None)


def has_words(text: str) -> bool:
    """Return True if there is anything to translate: a letter or a digit."""
    return any(unicodedata.category(character)[0] in "LN" for character in text)


class Detector:
    """Detects which of some languages a text is in, by its letters (Lui and Baldwin 2012, langid)."""

    def __init__(self, languages: Sequence[str]) -> None:
        self._languages = list(dict.fromkeys(code for code in languages if is_named(code)))
        self._lock = Lock()
        self._identifier: Any = None

    def __call__(self, text: str, among: Sequence[str] | None = None) -> list[Detected]:
        """Return the possible languages, best first; without any evidence, the first one with confidence 0."""
        candidates = [code for code in self._languages if among is None or code in among]
        if not candidates:
            return []
        shares = self._shares(text) if has_words(text) else {}
        likely = {code: shares.get(_plain(code), 0.0) for code in candidates}
        total = sum(likely.values())
        if not total or not any(character.isalpha() for character in text):
            return [Detected(candidates[0], 0.0)]
        ranked = sorted(candidates, key=lambda code: -likely[code])
        return [
            Detected(code, round(100 * likely[code] / total, 1)) for code in ranked if likely[code] or code == ranked[0]
        ]

    def _shares(self, text: str) -> dict[str, float]:
        with self._lock:
            if self._identifier is None:
                self._identifier = identifier_of([_plain(code) for code in self._languages])
            return dict(self._identifier.rank(text[:2000])) if self._identifier else {}


def _plain(code: str) -> str:
    """Return a code as the identifier knows it."""
    return _normal(code).partition("-")[0]
