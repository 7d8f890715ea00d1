# `unseen` on a Ray cluster: the image of head and workers of deploy/kuberay.yaml.
#
#     docker build -f deploy/ray.Dockerfile -t unseen-ray .          from the top of the repository
#
# Ray and Python are those that constraints.txt was made with: driver and workers need the same.

FROM rayproject/ray:2.60.0-py311
COPY --chown=ray:users pyproject.toml README.md LICENSE NOTICE constraints.txt /home/ray/unseen/
COPY --chown=ray:users src /home/ray/unseen/src
COPY --chown=ray:users web /home/ray/unseen/web
RUN pip install --no-cache-dir --constraint /home/ray/unseen/constraints.txt "/home/ray/unseen[ray,fast]"
