# %% files
language = "pt"  # set: pt, ru
from pathlib import Path
from random import Random

from regard.data.demo.corpus import pairs

corpus = {"pt": "demo", "ru": "demo-ru"}[language]
test = pairs("test", corpus)[:400]
train = pairs("train", corpus, count=8000)
train += train[:250]  # copies, as collected files have them
train += [(english, "") for english, _ in train[:30]]  # lost translations
train += test[:40]  # sentences of the test that slipped in
Random(1).shuffle(train)
for name, lines in [("train", train), ("test", test)]:
    for suffix, side in zip(["en", language], zip(*lines, strict=True), strict=True):
        Path(f"{name}.{suffix}").write_text("".join(f"{line}\n" for line in side), encoding="utf-8")
for source, target in train[:3]:
    print(f"{source:40}{target}")


# %% inspect
def read(name):
    return Path(name).read_text(encoding="utf-8").splitlines()


english, translated = read("train.en"), read(f"train.{language}")
lines = list(zip(english, translated, strict=True))
lengths = sorted(len(line.split()) for line in english)
print(f"{len(lines)} lines, {lengths[len(lines) // 2]} words in the middle, {lengths[-1]} at most")
print(f"{sum(not a or not b for a, b in lines)} empty on one side")
print(f"{len(lines) - len(set(lines))} repeated")
print(f"{len(set(english) & set(read('test.en')))} in the test too")
for name, side in [("en", english), (language, translated)]:
    words = [word for line in side for word in line.lower().strip(".?").split()]
    print(f"{name}: {len(words)} words, {len(set(words))} different ones")

# %% recipe
steps = 400  # set: 50 to 3000
recipe = f"""
family = "transformer"
[data]
source_language = "en"
target_language = "{language}"
train = ["train.en", "train.{language}"]
test = ["test.en", "test.{language}"]
tokeniser = {{ kind = "unigram", vocabulary = 2000 }}
[model]
preset = "tiny"
encoder_layers = 2
decoder_layers = 2
norm = "before"
dropout = 0.0
[training]
steps = {steps}
batch_tokens = 1024
validate_every = 200
label_smoothing = 0.0
optimizer = {{ learning_rate = 3e-3, schedule = "linear", warmup = 80 }}
"""
Path("mine.toml").write_text(recipe, encoding="utf-8")
print("mine.toml is written")

# %% dry
from regard.course import picture, run

run("regard train mine.toml --dry-run")

# %% train
run("regard train mine.toml --out mine --overwrite")

# %% evaluate
run("regard evaluate mine --metric bleu --metric chrf --metric exact")

# %% mistakes
import regard

model = regard.load("mine")
sources, references = read("test.en"), read(f"test.{language}")
outputs = [found.text for found in model.translate(sources)]
wrong = [row for row in zip(sources, outputs, references, strict=True) if row[1] != row[2]]
print(f"{len(wrong)} of {len(sources)} differ from the reference")
for source, output, reference in wrong[:5]:
    print(f"\n{source}\n  {output}\n  {reference}")

# %% look
sentence = "The old house is red."  # set: The old house is red., Ana does not see the black dog., Where do you sleep?
picture(model.look(sentence))

# %% info
run("regard info mine")

# %% card
run("regard card mine --licence CC0-1.0 -o card.md --overwrite")
card = Path("card.md").read_text(encoding="utf-8")
print(card[card.index("## Limits") : card.index("## Files")])

# %% compare
further = {
    "start_from": "mine",
    "training.steps": 60,
    "training.batch_tokens": 512,
    "training.validation_beam": 0,
    "training.optimizer.warmup": 10,
    "decoding.beam": 1,
}
rates = {"training.optimizer.learning_rate": [3e-3, 3e-4]}
found = regard.compare("mine.toml", rates, settings=further, seeds=2, jobs=2, out="rates", overwrite=True)
for row in found.rows:
    print(f"{row['variant']:7} {row['metric']:5} {row['mean']:6.2f} ± {row['spread']:.2f}", end="")
    print(f"   {row['difference']:+.2f}, p = {row['p']:.4f}" if row["difference"] is not None else "")

# %% letter
Path("letter.en").write_text("I love books.\nThe old house is red.\n\nMy keyboard is broken.\n", encoding="utf-8")
run("regard translate mine letter.en -o letter.out --overwrite")
print(*read("letter.out"), sep="\n")

# %% serve
import json
import subprocess
import sys
from urllib.request import Request, urlopen

command = [sys.executable, "-m", "regard", "serve", "mine", "--port", "0", "--quiet"]
with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
    try:
        address = next(line for line in server.stdout if "http://" in line).split()[-1]
        question = json.dumps({"q": "I love books.", "source": "en", "target": language}).encode()
        request = Request(f"{address}/translate", question, {"Content-Type": "application/json"})
        with urlopen(request) as answer:
            print(json.load(answer))
    finally:
        server.terminate()
print("the server ended with status", server.returncode)

# %% export
run("regard export mine --to ctranslate2 --overwrite")

# %% speed
beam = 4  # set: 1 to 8
from time import perf_counter

found = {}
for engine in ["torch", "ctranslate2"]:
    model.translate(sources[:8], beam=beam, engine=engine)  # the first call loads the engine
    began = perf_counter()
    found[engine] = [row.text for row in model.translate(sources, beam=beam, engine=engine)]
    print(f"{engine:12}{len(sources) / (perf_counter() - began):5.0f} sentences a second")
print(f"{sum(map(str.__eq__, *found.values()))} of {len(sources)} outputs are the same")

# %% resume
import shutil
from hashlib import sha256
from time import sleep

few = {"model.width": 32, "training.steps": 12, "training.save_every": 4, "training.validation_beam": 0}
regard.train("mine.toml", few, out="straight", overwrite=True, quiet=True)
shutil.rmtree("broken", ignore_errors=True)
train_to = [sys.executable, "-m", "regard", "train", "--out", "broken"]
settings = [f"--set={name}={value}" for name, value in few.items()]
broken = subprocess.Popen([*train_to, "mine.toml", *settings], stderr=subprocess.DEVNULL)
while broken.poll() is None and not list(Path("broken").glob("training/checkpoints/*4")):
    sleep(0.05)
broken.kill()  # as a power cut would
broken.wait()
subprocess.run([*train_to, "--resume"], capture_output=True, check=True)
for name in ["straight", "broken"]:
    print(f"{name:9}", sha256(Path(name, "weights.safetensors").read_bytes()).hexdigest()[:32])
