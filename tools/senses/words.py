"""Text to the words the finder knows, as src/search/normalise.rs has them. A test of the finder
(src/search/tests/senses.rs) fails where the two part."""

import re


class Words:
    """Splits and stems with the catalog's own lists."""

    def __init__(self, language):
        self.never_stem = set(language["never_stem"])
        self.stopwords = set(language["stopwords"])

    def surfaces(self, text):
        """The words of a text as they stand in it, each with its stem; no stopwords and no numbers."""
        kept = (word for word in split(text) if word not in self.stopwords and not word.isdigit())
        return [(word, self.stem(word)) for word in kept]

    def stems(self, text):
        return [stem for _, stem in self.surfaces(text)]

    def stem(self, word):
        if self._keeps(word):
            return word
        single = singular(word)
        if self._keeps(single):
            return single
        bare = without_verb_ending(single)
        return bare[:-1] if len(bare) >= 5 and bare.endswith("e") and not bare.endswith("ee") else bare

    def _keeps(self, word):
        return not word.isascii() or len(word) < 3 or word in self.never_stem


def split(text):
    words = []
    for piece in re.split(r"[^\w'’]|_", text):
        word = piece.strip("'’")
        word = word[:-2] if word.endswith(("'s", "’s")) else word
        words += [part for part in humps(word) if part]
    return words


def humps(piece):
    """`fullPath` is two words, `GitLab` one."""
    parts, after_lower = [], False
    for char in filter(str.isalnum, piece):
        if not parts or (char.isupper() and after_lower):
            parts.append("")
        after_lower = char.islower()
        parts[-1] += char.lower()
    if piece[:1].isupper() and any(len(part) < 4 for part in parts):
        return ["".join(parts)]
    return parts


def singular(word):
    if not word.endswith("s"):
        return word
    stem = word[:-1]
    if stem.endswith(("s", "u", "i")):
        return word
    if len(stem) > 3 and stem.endswith("ie"):
        return re.sub("(ie)+$", "", stem) + "y"
    if stem.endswith(("sse", "che", "she", "xe", "zze")):
        return stem.rstrip("e")
    return stem


def without_verb_ending(word):
    for ending in ("ed", "ing"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= 3 and re.search("[aeiouy]", stem) and not stem.endswith("e"):
            doubled = len(stem) > 1 and stem[-1] == stem[-2] and stem[-1] not in "lsz"
            return stem[:-1] if doubled else stem
    return word
