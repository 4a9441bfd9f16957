# For an ordinary user, and for the workers of a cluster (docs/cluster.md):
# docker run --rm -v "$PWD:/work" --user "$(id -u):$(id -g)" yao-test -i assistants
FROM python:3.12-slim AS build
WORKDIR /source
COPY . .
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
COPY --from=build /wheels /wheels
RUN set -eu; \
    for wheel in /wheels/*.whl; do \
      python -m pip install --no-cache-dir --disable-pip-version-check "yao-test[crypto,dask,formats,mcp,otlp] @ file://$wheel"; \
    done; \
    rm -r /wheels; \
    useradd --uid 10001 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin yao-test
# Any user may run it: nothing of it is written to, and what is temporary is below /tmp.
ENV HOME=/tmp PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
WORKDIR /work
ENTRYPOINT ["yao-test"]
