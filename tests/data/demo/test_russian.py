"""The Russian side of the demo grammar: sentences that a speaker would accept, and forms by the rules."""

import re
from itertools import islice

import pytest
from test_demo_corpus import Search

from regard.base.faults import Fault
from regard.commands.demo import RUSSIAN
from regard.data.demo.corpus import pairs
from regard.data.demo.draws import Dice
from regard.data.demo.entries import lexicon
from regard.data.demo.filled_patterns import DemoSentences
from regard.data.demo.russian import Russian
from regard.data.demo.russian_entries import CASES, _noun, decline_adjective, past_form, russian_lexicon
from regard.data.demo.russian_phrases import Place, preposed

SIGNED = {
    # Tense and aspect
    "I love books.": "Я люблю книги.",
    "We will eat bread.": "Мы съедим хлеб.",
    "She opens the window.": "Она открывает окно.",
    "They opened the windows.": "Они открыли окна.",
    "Ana always opened the window.": "Анна всегда открывала окно.",
    "Ana read the newspaper.": "Анна прочитала газету.",
    "Rita will sleep in the garden.": "Рита будет спать в саду.",
    "Ana and Pedro wait for the train.": "Анна и Педро ждут поезд.",
    "Who broke the mirror?": "Кто разбил зеркало?",
    # Cases: animate, inanimate, and what verbs govern
    "I see the boy.": "Я вижу мальчика.",
    "I see the table.": "Я вижу стол.",
    "We see the young horses.": "Мы видим молодых лошадей.",
    "We see the new tables.": "Мы видим новые столы.",
    "Ana helps this man.": "Анна помогает этому мужчине.",
    "Maria talks to the old king.": "Мария говорит со старым королём.",
    "The teacher talks to me.": "Учительница говорит со мной.",
    "We think about Ana.": "Мы думаем об Анне.",
    "They thought about me.": "Они думали обо мне.",
    "He thinks about her.": "Он думает о ней.",
    "I gave a flower to my sister.": None,  # я is a man or a woman
    "She gave a flower to the sister.": "Она дала цветок сестре.",
    "Ana's book is new.": "Книга Анны новая.",
    "The boy's dog is white.": "Собака мальчика белая.",
    # Ways and places
    "He went to the beach.": "Он пошёл на пляж.",
    "She goes to that school.": "Она ходит в ту школу.",
    "The farmers came from the market.": "Фермеры пришли с рынка.",
    "They leave the house.": "Они уходят из дома.",
    "Clara lives in the forest.": "Клара живёт в лесу.",
    "We walk through the forest.": "Мы гуляем по лесу.",
    "The cat sleeps under the chair.": "Кошка спит под стулом.",
    "The children play next to the school.": "Дети играют рядом со школой.",
    "Clara is near these trees.": "Клара около этих деревьев.",
    # Numbers and amounts
    "She buys two houses.": "Она покупает два дома.",
    "She buys two new houses.": "Она покупает два новых дома.",
    "She buys two new books.": "Она покупает две новые книги.",
    "She sees two girls.": "Она видит двух девочек.",
    "She sees five girls.": "Она видит пять девочек.",
    "They help three children.": "Они помогают трём детям.",
    "Five black cats sleep on the bed.": "Пять чёрных кошек спят на кровати.",
    "Many women work in the hospital.": "Многие женщины работают в больнице.",
    "She reads many letters.": "Она читает много писем.",
    "She reads several new letters.": "Она читает несколько новых писем.",
    "She reads all the letters.": "Она читает все письма.",
    "How many apples did they eat?": "Сколько яблок они съели?",
    "João is four years old.": "Жуану четыре года.",
    "The boy will be ten years old.": "Мальчику будет десять лет.",
    # Being
    "The house is big.": "Дом большой.",
    "The house was big.": "Дом был большим.",
    "The sister is busy.": "Сестра занята.",
    "The window isn't clean.": "Окно не чистое.",
    "The apples will not be fresh.": "Яблоки не будут свежими.",
    "We are happy.": "Мы счастливы.",
    "I am happy.": None,
    "Ana is Portuguese.": None,  # she is a португалка
    "Where are the knives?": "Где ножи?",
    "Where was the letter?": "Где было письмо?",
    "There is milk on the table.": "На столе есть молоко.",
    "There were two girls on the bridge.": "На мосту было две девочки.",
    "There was a letter in the box.": "В коробке было письмо.",
    "The cat is not in the garden.": "Кошки нет в саду.",
    "The cats were not in the garden.": "Кошек не было в саду.",
    # Liking, having, needing, wanting, being able
    "I liked the song.": "Мне нравилась песня.",
    "The girls like these movies.": "Девочкам нравятся эти фильмы.",
    "I have a dog.": "У меня есть собака.",
    "He had five cows.": "У него было пять коров.",
    "Ana does not have a house.": "У Анны нет дома.",
    "The king will not have a horse.": "У короля не будет лошади.",
    "Maria needs a pen.": "Марии нужна ручка.",
    "The chef needed knives.": "Повару были нужны ножи.",
    "She can drive the bus.": "Она может водить автобус.",
    "We want to buy this house.": "Мы хотим купить этот дом.",
    "We don't want to buy this house.": "Мы не хотим покупать этот дом.",
    "The boys need to read the book.": "Мальчикам нужно прочитать книгу.",
    # Whose
    "I read my book.": "Я читаю свою книгу.",
    "Ana reads her book.": "Анна читает свою книгу.",
    "Ana reads his book.": "Анна читает его книгу.",
    "My book is interesting.": "Моя книга интересная.",
    # Denial and adverbs
    "Ana doesn't eat meat.": "Анна не ест мясо.",
    "Ana never drinks wine.": "Анна никогда не пьёт вино.",
    "Ana never has a dog.": "У Анны никогда нет собаки.",
    "He also fed the ducks.": "Он тоже покормил уток.",
}


class Plain(Dice):
    """Dice that always choose the plainest order."""

    def chance(self, share: float) -> bool:
        return False


def said(english: str) -> set[str]:
    return set(Search(english, Russian(russian_lexicon(), Plain(1))).translations())


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("english", "russian"), SIGNED.items(), ids=SIGNED)
def test_the_russian_is_what_a_speaker_would_sign(english: str, russian: str | None) -> None:
    assert said(english) == ({russian} if russian else set())


@pytest.mark.long
def test_the_demo_shows_what_the_grammar_can_say() -> None:
    learnt = dict(pairs("train", "demo-ru"))
    assert [english in learnt for english in RUSSIAN.sentences] == [True, False, False, False]
    for english, russian in RUSSIAN.sentences.items():
        assert said(english) == {russian}


ORDERS = {
    "The girl reads a book.": {"Девочка читает книгу.", "Книгу читает девочка."},
    "The mother loves the daughter.": {"Мать любит дочь."},  # neither shows its case
    "Ana sees him.": {"Анна видит его.", "Анна его видит."},
    "The boy sleeps in the garden.": {"Мальчик спит в саду.", "В саду спит мальчик."},
    "He sleeps in the garden.": {"Он спит в саду."},
    "Ana bought a house yesterday.": {
        "Анна купила дом вчера.", "Вчера Анна купила дом.", "Анна вчера купила дом.",
    },
    "Ana shows the map to the boy.": {"Анна показывает карту мальчику.", "Анна показывает мальчику карту."},
    "What did the girl write?": {"Что девочка написала?", "Что написала девочка?"},
}  # fmt: skip


@pytest.mark.parametrize(("english", "orders"), ORDERS.items(), ids=ORDERS)
def test_order_is_free_where_forms_say_who_does_what(english: str, orders: set[str]) -> None:
    russian = Russian(russian_lexicon(), Plain(1))
    texts: set[str] = set()

    class Listening(Russian):
        def wording(self, scene):
            wordings = russian.wordings(scene)
            if wordings and self.english.wording(scene).text == english:
                texts.update(wording.text for wording in wordings)
            return wordings[0] if wordings else None

    listening = Listening(russian_lexicon(), Plain(1))
    listening.english = DemoSentences(lexicon(), Plain(1), russian).english
    assert list(Search(english, listening).translations())
    assert texts == orders


def test_other_orders_are_drawn_too_and_have_the_same_words() -> None:
    plain = DemoSentences(lexicon(), Dice(5), Russian(russian_lexicon(), Plain(1)))
    free = DemoSentences(lexicon(), Dice(5), Russian(russian_lexicon(), Dice(1)))
    other = 0
    for one, two in islice(zip(plain, free, strict=True), 2000):
        assert one.source == two.source
        assert sorted(one.target.words) == sorted(two.target.words)
        other += one.target.words != two.target.words
    assert 100 < other < 600


def test_adjectives_are_declined_as_in_a_grammar_book() -> None:
    tables = {
        "новый": [
            "новый нового новому новый новым новом", "новая новой новой новую новой новой",
            "новое нового новому новое новым новом", "новые новых новым новые новыми новых",
        ],
        "большой": [
            "большой большого большому большой большим большом", "большая большой большой большую большой большой",
            "большое большого большому большое большим большом", "большие больших большим большие большими больших",
        ],
        "маленький": [
            "маленький маленького маленькому маленький маленьким маленьком",
            "маленькая маленькой маленькой маленькую маленькой маленькой",
            "маленькое маленького маленькому маленькое маленьким маленьком",
            "маленькие маленьких маленьким маленькие маленькими маленьких",
        ],
        "хороший": [
            "хороший хорошего хорошему хороший хорошим хорошем", "хорошая хорошей хорошей хорошую хорошей хорошей",
            "хорошее хорошего хорошему хорошее хорошим хорошем", "хорошие хороших хорошим хорошие хорошими хороших",
        ],
        "синий": [
            "синий синего синему синий синим синем", "синяя синей синей синюю синей синей",
            "синее синего синему синее синим синем", "синие синих синим синие синими синих",
        ],
        "молодой": [
            "молодой молодого молодому молодой молодым молодом", "молодая молодой молодой молодую молодой молодой",
            "молодое молодого молодому молодое молодым молодом", "молодые молодых молодым молодые молодыми молодых",
        ],
    }  # fmt: skip
    for form, table in tables.items():
        assert [" ".join(forms) for forms in decline_adjective(form).values()] == table


def test_pasts_follow_from_two_forms() -> None:
    assert [past_form("купил купила", gender) for gender in "mfnp"] == ["купил", "купила", "купило", "купили"]
    assert [past_form("шёл шла", gender) for gender in "mfnp"] == ["шёл", "шла", "шло", "шли"]
    reflexive = ["вернулся", "вернулась", "вернулось", "вернулись"]
    assert [past_form("вернулся вернулась", gender) for gender in "mfnp"] == reflexive


def test_prepositions_are_said_as_they_sound() -> None:
    spoken = {("с", "стола"): "со", ("с", "мной"): "со", ("с", "сада"): "с", ("о", "Анне"): "об", ("о", "ней"): "о"}
    spoken |= {("о", "мне"): "обо", ("о", "ёлке"): "о", ("в", "всех"): "во", ("в", "вине"): "в", ("из", "сада"): "из"}
    assert {words: preposed(*words) for words in spoken} == spoken


VOWELS = "аеёиоуыэюя"
FLEETING = {  # irregular stem or plural: checked word by word
    "отец", "лев", "рынок", "замок", "подарок", "ботинок", "цветок", "ребёнок", "камень", "церковь", "мать", "дочь",
    "брат", "сын", "друг", "стул", "дерево", "дядя", "тётя", "пальто", "кофе", "яблоко", "яйцо", "сестра", "озеро",
}  # fmt: skip
PLURAL_IN_A = {"дом", "поезд", "город", "остров", "лес", "повар"}


def by_rule(word: str, gender: str) -> list[str]:
    """Return the six singular cases by the three declensions of a grammar book, the accusative left open."""
    stem, last = word[:-1], word[-1]
    hushing = (stem if last in VOWELS + "ьй" else word)[-1] in "жшчщц"
    if last in "ая":
        i = "и" if last == "я" or stem[-1] in "гкхжшчщ" else "ы"
        e = "и" if stem.endswith("и") else "е"
        oy = "ей" if last == "я" or hushing else "ой"
        return [word, stem + i, stem + e, stem + ("ю" if last == "я" else "у"), stem + oy, stem + e]
    if gender == "f":
        return [word, stem + "и", stem + "и", word, word + "ю", stem + "и"]
    if word.endswith("ие"):
        return [word, stem + "я", stem + "ю", word, stem + "ем", stem + "и"]
    soft = last in "ьйе"
    base = stem if last in "ьйео" else word
    om = {True: "ем", False: "ом"}[soft]
    return [word, base + ("я" if soft else "а"), base + ("ю" if soft else "у"), "", base + om, base + "е"]


INSTRUMENTALS = {"король": "королём", "пляж": "пляжем"}


def test_nouns_are_declined_by_rule_but_for_those_named() -> None:
    for noun in russian_lexicon().nouns.values():
        word = noun.singular[0]
        if word in FLEETING:
            continue
        expected = by_rule(word, noun.gender)
        expected[4] = INSTRUMENTALS.get(word, expected[4])
        if not expected[3]:
            expected[3] = word if noun.gender == "n" or not noun.animate else noun.singular[1]
        assert list(noun.singular) == expected


def test_plurals_are_formed_by_rule() -> None:
    for noun in russian_lexicon().nouns.values():
        if not noun.plural:
            continue
        nominative, genitive, dative, accusative, instrumental, prepositional = noun.plural
        assert accusative == (genitive if noun.animate else nominative)
        if nominative not in ("дети", "пальто"):
            stem = dative.removesuffix("м")
            assert dative[-2:] in ("ам", "ям")
            assert prepositional == stem + "х"
            assert instrumental in (stem + "ми", stem[:-1] + "ьми")
        word = noun.singular[0]
        if word in FLEETING or word in PLURAL_IN_A:
            continue
        last = (word[:-1] if word[-1] in VOWELS else word)[-1]
        if noun.gender == "n":
            assert nominative[-1] in "ая"
        else:
            assert nominative[-1] == ("и" if last in "гкхжшчщьйи" or word[-1] in "яьй" else "ы")


def test_verbs_are_conjugated_by_rule() -> None:
    """First or second conjugation, a past from the infinitive, and futures like presents."""
    irregular = {"хотеть", "есть", "съесть", "дать", "продать", "захотеть"}
    for verb in russian_lexicon().verbs.values():
        if verb.short or verb.denied:
            continue
        assert verb.present is not None
        assert verb.habit is not None
        tables = [(verb.infinitive, verb.present)]
        if verb.future:
            tables.append((verb.perfective, verb.future))
        for infinitive, forms in tables:
            if infinitive in irregular:
                continue
            i, you, he, we, you_all, they = (form.removesuffix("ся").removesuffix("сь") for form in forms.split())
            assert re.search("[ую]$", i)
            second = he.endswith("ит")
            vowel = "и" if second else he[-2]
            assert vowel in "иеё"
            stem = he[:-2]
            assert (you, we, you_all) == (stem + vowel + "шь", stem + vowel + "м", stem + vowel + "те")
            assert re.search("[ая]т$" if second else "[ую]т$", they)
        if verb.infinitive not in ("есть",):
            stem = re.sub("ть(ся)?$", "", verb.infinitive)
            reflexive = verb.infinitive.endswith("ся")
            assert verb.habit == (f"{stem}лся {stem}лась" if reflexive else f"{stem}л {stem}ла")


def test_all_determiners_and_numbers_have_all_their_cases() -> None:
    words = russian_lexicon().words
    for name, forms in words.determiners.items():
        assert [len(form.split()) for form in forms] == ([0, 0, 0, 6] if name in ("many", "all") else [6] * 4)
    assert words.numbers.keys() == lexicon().words.numbers.keys()
    assert words.names.keys() == {*lexicon().words.names.feminine, *lexicon().words.names.masculine}
    assert words.pronouns.keys() == lexicon().words.pronouns.keys()
    assert words.adjectives.keys() == lexicon().adjectives.keys()
    assert russian_lexicon().verbs.keys() == lexicon().verbs.keys()


def test_a_noun_without_its_cases_is_refused() -> None:
    with pytest.raises(Fault, match=r"russian_nouns\.toml: book must read like"):
        _noun("book", ["f", "книга книги"])


def test_every_entry_of_the_lexicon_names_a_case() -> None:
    russian = russian_lexicon()
    directions = {"", "to", "from", "in"}
    entries = [*russian.words.prepositions.values(), *(verb.subject for verb in russian.verbs.values())]
    entries += [verb.object for verb in russian.verbs.values() if verb.object not in directions]
    assert entries
    assert {Place.governed(entry).case for entry in entries} <= set(CASES)
    assert Place.governed("рядом с instrumental") == Place("instrumental", "рядом с")
    with pytest.raises(KeyError):
        Place.governed("acusative")
