"""The grammar of the demo corpus: Portuguese that a speaker would accept, and never two translations."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain

import pytest

from regard.base.recipe import Options
from regard.commands.demo import PORTUGUESE
from regard.data.demo.corpus import pairs
from regard.data.demo.draws import Dice
from regard.data.demo.entries import Determiner, Noun, lexicon
from regard.data.demo.filled_patterns import DemoSentences, Side
from regard.data.demo.patterns import Action, Description, Pattern
from regard.data.demo.portuguese import Portuguese

SIGNED = {
    # Subjects, verbs and tenses
    "I love books.": "Eu amo livros.",
    "I loved the song.": "Eu amei a canção.",
    "I will love the city.": "Eu amarei a cidade.",
    "You eat an orange.": "Você come uma laranja.",
    "You all ate the oranges.": "Vocês comeram as laranjas.",
    "We will eat bread.": "Nós comeremos pão.",
    "She opens the window.": "Ela abre a janela.",
    "They opened the windows.": "Eles abriram as janelas.",
    "Ana and Pedro read the newspapers.": "Ana e Pedro leem os jornais.",
    "Ana read the newspaper.": "Ana leu o jornal.",
    "I brought water.": "Eu trouxe água.",
    "We will bring the coffee.": "Nós traremos o café.",
    "They have twelve keys.": "Eles têm doze chaves.",
    "We had a house.": "Nós tínhamos uma casa.",
    "He builds bridges.": "Ele constrói pontes.",
    "I hear the birds.": "Eu ouço os pássaros.",
    "I gave a flower to Maria.": "Eu dei uma flor a Maria.",
    # Agreement, and adjectives after their nouns
    "The small houses are white.": "As casas pequenas são brancas.",
    "I see the red house.": "Eu vejo a casa vermelha.",
    "Five blue chairs are broken.": "Cinco cadeiras azuis estão quebradas.",
    "The lion is dangerous.": "O leão é perigoso.",
    "The poem was difficult.": "O poema era difícil.",
    "The poems were difficult.": "Os poemas eram difíceis.",
    "This brown coat is comfortable.": "Este casaco marrom é confortável.",
    "These brown coats are comfortable.": "Estes casacos marrons são confortáveis.",
    "Maria sells Portuguese wine.": "Maria vende vinho português.",
    "We are happy.": "Nós estamos felizes.",
    "Ana and Maria are tired.": "Ana e Maria estão cansadas.",
    "Ana and Pedro are tired.": "Ana e Pedro estão cansados.",
    "The soup will be hot.": "A sopa estará quente.",
    # Numbers and quantities
    "I have two cats.": "Eu tenho dois gatos.",
    "I have two cows.": "Eu tenho duas vacas.",
    "Three black cats sleep on the bed.": "Três gatos pretos dormem na cama.",
    "Many women work in the hospital.": "Muitas mulheres trabalham no hospital.",
    "Several trains were empty.": "Vários trens estavam vazios.",
    "She reads all the letters.": "Ela lê todas as cartas.",
    "João is ten years old.": "João tem dez anos.",
    # Contractions
    "The cat is in the garden.": "O gato está no jardim.",
    "The cat is under the table.": "O gato está embaixo da mesa.",
    "Clara is near these trees.": "Clara está perto destas árvores.",
    "I like the movies.": "Eu gosto dos filmes.",
    "I like those stories.": "Eu gosto daquelas histórias.",
    "You think about the city.": "Você pensa na cidade.",
    "You think about that movie.": "Você pensa naquele filme.",
    "He went to the park.": "Ele foi ao parque.",
    "He went to the beach.": "Ele foi à praia.",
    "He went to that beach.": "Ele foi àquela praia.",
    "She shows the maps to the girls.": "Ela mostra os mapas às meninas.",
    "We watched the games.": "Nós assistimos aos jogos.",
    "We walk through the forest.": "Nós caminhamos pela floresta.",
    "Rita lives in a castle.": "Rita mora em um castelo.",
    "I dance in my kitchen.": "Eu danço na minha cozinha.",
    "I talk to my father.": "Eu falo com meu pai.",
    "We travel to the island.": "Nós viajamos para a ilha.",
    "Pedro was in front of the church.": "Pedro estava em frente à igreja.",
    # Owners
    "Ana's book is new.": "O livro de Ana é novo.",
    "The boy's dog is white.": "O cachorro do menino é branco.",
    "I need the teacher's red pen.": "Eu preciso da caneta vermelha da professora.",
    "His house is big.": "A casa dele é grande.",
    "We wash her car.": "Nós lavamos o carro dela.",
    # Negation
    "I do not eat meat.": "Eu não como carne.",
    "I don't eat meat.": "Eu não como carne.",
    "Paulo did not buy the shoes.": "Paulo não comprou os sapatos.",
    "You will not lose the keys.": "Você não perderá as chaves.",
    "The box isn't heavy.": "A caixa não é pesada.",
    "Ana never drinks wine.": "Ana nunca bebe vinho.",
    "They cannot swim.": "Eles não podem nadar.",
    # Questions
    "Do you like cheese?": "Você gosta de queijo?",
    "Did the children play in the park?": "As crianças brincaram no parque?",
    "Will she visit the museum?": "Ela visitará o museu?",
    "Is the water cold?": "A água está fria?",
    "Where are the knives?": "Onde estão as facas?",
    "What did Júlia write?": "O que Júlia escreveu?",
    "Who broke the mirror?": "Quem quebrou o espelho?",
    "Why did you close the door?": "Por que você fechou a porta?",
    "Where do you work?": "Onde você trabalha?",
    "When will Bruno sell the car?": "Quando Bruno venderá o carro?",
    "How many apples did you buy?": "Quantas maçãs você comprou?",
    "Are there birds near the lake?": "Há pássaros perto do lago?",
    # Pronouns as objects
    "I love you.": "Eu amo você.",
    "Ana sees me.": "Ana me vê.",
    "We do not understand him.": "Nós não o entendemos.",
    "Did you help her?": "Você a ajudou?",
    "They will meet us tomorrow.": "Eles nos conhecerão amanhã.",
    "Daniel likes her.": "Daniel gosta dela.",
    "The doctor talks to me.": "A médica fala comigo.",
    "You all always think about them.": "Vocês sempre pensam neles.",
    # Being able, wanting, needing; times and places
    "She can drive the bus.": "Ela pode dirigir o ônibus.",
    "Can you dance?": "Você pode dançar?",
    "I want to learn this song.": "Eu quero aprender esta canção.",
    "The students need to read this lesson.": "Os alunos precisam ler esta lição.",
    "There is milk on the table.": "Há leite na mesa.",
    "There were two girls on the bridge.": "Havia duas meninas na ponte.",
    "Was there a letter in the box?": "Havia uma carta na caixa?",
    "My sister runs every day.": "Minha irmã corre todos os dias.",
    "We worked yesterday.": "Nós trabalhamos ontem.",
    "He also fed the ducks.": "Ele também alimentou os patos.",
    "She will leave the hotel next week.": "Ela sairá do hotel na próxima semana.",
}


class DeadEnd(Exception):
    """The choices so far cannot lead to the target sentence."""


class Search(Dice):
    """Dice that try every choice a target sentence allows, one after another."""

    def __init__(self, wanted: str, side: Side | None = None) -> None:
        self.wanted, self.side = wanted, side or Portuguese(lexicon().words)
        plain = re.sub(r"[.?]|'s\b", "", wanted.lower())
        self.words = " " + re.sub(r"\b(cannot|can't)", r"\1 can", plain) + " "
        self.path: list[list[int]] = []  # the choices taken, each with the number of options
        self.depth = 0
        self.said: Counter[str] = Counter()
        self.known: dict[int, tuple[Sequence, Sequence]] = {}

    def translations(self) -> Iterator[str]:
        """Return everything that the grammar makes of the sentence."""
        sentences = DemoSentences(lexicon(), self, self.side)
        while True:
            self.depth = 0
            self.said.clear()
            with suppress(DeadEnd):
                sentence = next(iter(sentences))
                if sentence.source.text == self.wanted:
                    yield sentence.target.text
            while self.path and self.path[-1][0] + 1 == self.path[-1][1]:
                self.path.pop()
            if not self.path:
                return
            self.path[-1][0] += 1

    def choose(self, options: int) -> int:
        if options == 0 or self.depth == 30:
            raise DeadEnd
        if self.depth == len(self.path):
            self.path.append([0, options])
        self.depth += 1
        return self.path[self.depth - 1][0]

    def chance(self, share: float) -> bool:
        return self.choose(2) == 1

    def pick(self, items):
        if id(items) not in self.known:
            self.known[id(items)] = items, [item for item in items if self.may_say(item)]
        possible = self.known[id(items)][1]
        item = possible[self.choose(len(possible))]
        texts = self.mentioned(item)
        self.said.update(texts[:1])
        if texts and self.said[texts[0]] > sum(map(self.words.count, texts)):
            raise DeadEnd
        return item

    def draw(self, urn):
        return self.pick(urn.items)

    def may_say(self, item: object) -> bool:
        match item:
            case "present" | "past" | "future" | ((Noun(), *_), _):
                return True
            case (Pattern(english=english), _):
                shape = re.sub(r"\s*\{\w+\}\s*", ".*", re.sub(r"[.?]$", r"\\\g<0>", english))
                return bool(re.fullmatch(shape, self.wanted, re.IGNORECASE))
            case (Determiner(name="a"), _):
                return self.may_say(["a", "an"])
            case (Determiner(english=english), plural):
                return not english[plural] or self.may_say(english[plural])
        return bool(self.mentioned(item))

    def mentioned(self, item: object) -> list[str]:
        """Return the texts by which the sentence mentions a choice."""
        if isinstance(item, tuple) and isinstance(item[0], tuple | Pattern):
            return []
        texts = dict.fromkeys(f" {text.lower()} " for text in english_of(item))
        return [text for text in texts if text in self.words]


def english_of(item: object) -> Iterator[str]:
    """Return the English words of anything the grammar draws: a verb, a pronoun, a list of nouns."""
    match item:
        case str():
            yield item
            if item in lexicon().words.pronouns:
                yield lexicon().words.pronouns[item].object
        case tuple() | list():
            yield from chain.from_iterable(map(english_of, item))
        case Noun():
            yield from (item.name, item.plural)
        case Action():
            yield from item.verb.english
        case Description():
            yield item.adjective.english
        case Options(english=english):
            yield from english_of(english)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("english", "portuguese"), SIGNED.items(), ids=SIGNED)
def test_the_portuguese_is_what_a_speaker_would_sign(english: str, portuguese: str) -> None:
    assert set(Search(english).translations()) == {portuguese}


def test_the_demo_shows_what_the_grammar_can_say() -> None:
    """All but the first are new to the model."""
    learnt = dict(pairs("train"))
    assert [english in learnt for english in PORTUGUESE.sentences] == [True, False, False, False]
    for english, portuguese in PORTUGUESE.sentences.items():
        assert set(Search(english).translations()) == {portuguese}


@pytest.mark.long
def test_an_english_sentence_has_one_translation() -> None:
    for english, portuguese in [*pairs("train")[:5], *pairs("train")[5::1500], *pairs("test")[::100]]:
        assert set(Search(english).translations()) == {portuguese}


def test_what_makes_no_sense_cannot_be_said() -> None:
    assert not set(Search("The apple reads Pedro.").translations())
