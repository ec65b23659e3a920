# The demo: trained when the image is built, then served at http://127.0.0.1:5000 to whoever can reach the container.
#
#   docker build --tag regard . && docker run --rm --publish 127.0.0.1:5000:5000 regard

FROM python:3.12-slim AS trained
WORKDIR /opt/regard
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY regard ./regard
RUN python -m venv /opt/venv
# The build of torch without CUDA, which is far smaller.
RUN /opt/venv/bin/pip install --no-cache-dir --constraint constraints.txt --extra-index-url https://download.pytorch.org/whl/cpu .
WORKDIR /srv
RUN /opt/venv/bin/regard demo --out runs/demo

FROM python:3.12-slim
RUN useradd --create-home regard
COPY --from=trained /opt/venv /opt/venv
COPY --from=trained --chown=regard /srv/runs /srv/runs
WORKDIR /srv
USER regard
EXPOSE 5000
HEALTHCHECK --start-period=60s CMD ["/opt/venv/bin/python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:5000/health', timeout=5)"]
# Whom the port is published to decides who comes; for more than this machine, mount a key and give --key-file.
CMD ["/opt/venv/bin/regard", "serve", "runs/demo", "--host", "0.0.0.0", "--public"]
