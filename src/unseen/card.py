"""The model card of a saved classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.core.escape import markdown

if TYPE_CHECKING:
    from unseen.estimator import ZeroShotNodeClassifier


def card(classifier: ZeroShotNodeClassifier) -> str:
    """Return the model card, Markdown in which texts of users are shown letter for letter."""
    classes, preparer = classifier.class_texts_, classifier.preparer_
    rows = "\n".join(
        f"| {markdown(name)} | {'labelled' if name in classifier.seen_ else 'unseen'} "
        f"| {markdown(text or '')} |"
        for name, text in zip(classes.names, classes.descriptions or (), strict=True)
    )
    grows = getattr(classifier.model_, "adds_classes", False)
    more = ", or one that is added later by name and description" if grows else ""
    said = {"match_": "single words matched with class texts", "lsa_": "LSA of the graph's texts"}
    beside = " and ".join(text for name, text in said.items() if getattr(preparer, name))
    words = f"; beside both, {beside}" if beside else ""
    return f"""# A zero-shot node classifier

Made by `unseen`. It gives nodes of a graph like the one it was fitted on one of the classes
below{more}.

- Model: {markdown(repr(classifier.model_))}
- Vectors: of nodes by {markdown(preparer.encoder_)}, of classes from their
  {markdown(preparer.class_text_)}{words}
- Use: `unseen predict --model FOLDER --nodes ... --edges ... --classes ... --out ...`

| class | in training | description |
|---|---|---|
{rows}

Accuracy on unseen classes is not known to the model: nobody has labelled them. Confidences are
estimates from texts and neighbours. Check a sample by hand before relying on them.
"""
