"""Words that stand for somebody or something already named, and what they can stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from wellkept.model import PageRef
from wellkept.names import norm

Fit = Literal["person", "thing", "they", "any"]

_WORDS: dict[Fit, str] = {
    # Only people are called so.
    "person": """
        he she him her his hers himself herself he's she's he'd she'd he'll she'll
        quien lui-même elle-même
        hän hänen hänet häntä hänelle han hon henne honom hans hennes hun ham hende ő
        他 她 他的 她的 彼 彼女 彼の 彼女の 그 그녀 그의 그녀의 그가 그는 그녀는 그녀가
    """,
    # Never people.
    "thing": """
        it its itself it's it'd it'll this that
        es das dies dessen ça cela ceci ello esto eso isto isso ciò questo quello het dit dat to tego temu
        это этого этому этим оно це цього цьому αυτό bu şu bunu bunun buna هذا هذه ذلك زה זאת זה זו
        它 它的 これ それ この その 이것 그것 이것은 그것은
    """,
    # People or a group of them.
    "they": """
        they them their theirs themselves they're they've they'd they'll
        ellos ellas sus eles elas deles delas loro ils elles leur leurs eux zij hun hen oni im nimi nich
        они их им ими них ним ними вони їх їм ними їхній αυτοί αυτές τους onlar onların onları onlara
        هم هن لهم منهم הם הן שלהם להם אותם
        他们 她们 他們 她們 彼ら 彼らの 그들 그들은 그들의
    """,
    # People, or things of that grammatical gender.
    "any": """
        er sie ihn ihm ihr ihre ihren ihrem ihres sein seine seinen seinem seines ihnen
        il elle lui son sa ses celui celle
        él el ella le les lo la su suyo suya ele ela lhe dele dela seu sua nele nela
        lui lei gli suo sua suoi sue esso essa egli
        hij zij ze hem haar zijn
        on ona ono jego jej jemu mu go ją ją niego niej nim nią
        он она его её ее ему ей ней нее неё ним нём него
        він вона його її йому їй ньому неї нього нею ним
        αυτός αυτή αυτού αυτής του της τον την
        o onu ona onun ondan onda
        هو هي له لها منه منها معه معها
        הוא היא שלו שלה לו לה אותו אותה
    """,
}

_FIRST_PERSON = """
    i i'm i've i'd i'll me my mine myself we we're we've we'd us our ours
    ich mich mir mein meine meinen wir uns unser unsere je j'ai moi mon ma mes nous notre nos
    yo mí mi mis nosotros nuestro nuestra eu meu minha nós nosso nossa io mio mia noi nostro nostra
    ik mij mijn wij ons onze ja mnie mój moja moje my nasz nasza я меня мне мой моя мы нас нам наш наша
    я мене мені мій моя ми нас нам наш εγώ μου με εμείς μας ben beni bana benim biz bizim
    أنا لي نحن لنا אני שלי לי אנחנו שלנו לנו 我 我的 我们 我們 私 私の 僕 俺 私は 나 나는 내 제가 저는 우리
"""

# Short words that are names only when they are written as names.
_EVERYDAY = """
    a an and any are art as ask at be bill but by can day do dawn for faith frank from get go grace had has have hope
    if in is iris jack joy june just mark may me no not of off on one or our out pat ray rob rose see so sue the to
    trust up us use was we who will win you
    am an auf aus bei bin bis das dem den der des die du ein eine er es für hat ich im in ist ja man mit nun ob oder
    sie so um und von vor war was wer wie wir zu zum zur
    au aux avec bon ce ces dans de des du elle en est et il je la le les mais me mon ne nous on ou par pas pour qui
    sa se si son sur ta te tu un une vous y
    al con como da das dos del di do e el era es esta este fue ha han hay las lo los mas mi mis muy ni nos o para
    pero por que se sin sol su sus te tu un una va y ya já na no nos os ou sem um uma ao aos pela
    che ci col come dei della delle gli ho i il io lei li loro ma ne non per poi più quel sono suo ti tra uno
    aan als dan dat de dit een en er had het hij hoe ik in is je maar met mij naar niet nog om ook op te toen uit van
    voor want wat wel wie zo ale bo być co czy dla do go i jak jest już ma na nie od po pod są się ta tak tam te to tu
    w z za że в во да для до же за и из или к как ко на не но о от по с со так то ты у уже что я а є з й та що як це
    ve bir bu da de ile için mi mu ne o var ya yok
    new old next first last open good big great small blue red green black white north south east west general
    monday tuesday wednesday thursday friday saturday sunday
"""

_UNCLEAR = """
    el la le les lo los las o a on os es das des son sa su sus sue suo sua so go mu bu to te the her one lui lei
    sein han hun ham mij haar ele ela του της τον την τους он ему ней 그 の その le lo
"""
_HONORIFICS = """
    mr mrs ms miss dr prof professor sir dame lord lady herr frau monsieur madame mme mlle m señor señora sr sra don
    doña dona senhor senhora signor signora sig dottor dottoressa meneer mevrouw pan pani pan pana пан пані господин
    госпожа κύριος κυρία bay bayan hanım bey
"""

_PERSON_TYPES = frozenset({"person", "people", "contact", "human"})
_PERSON_FOLDERS = frozenset({"people", "person", "persons", "contacts"})
_GROUP_TYPES = frozenset(
    [
        "company",
        "org",
        "organisation",
        "organization",
        "team",
        "group",
        "firm",
        "agency",
        "band",
        "club",
        "institution",
        "school",
        "fund",
        "investor",
    ]
)

PRONOUNS: Mapping[str, Fit] = {
    norm(word): fit for fit in ("thing", "any", "they", "person") for word in _WORDS[fit].split()
}
FIRST_PERSON = frozenset(norm(word) for word in _FIRST_PERSON.split())
EVERYDAY = frozenset(norm(word) for word in _EVERYDAY.split())
HONORIFICS = frozenset(_HONORIFICS.split())
CLEAR_PRONOUNS: Mapping[str, Fit] = {
    word: fit for word, fit in PRONOUNS.items() if word not in _UNCLEAR.split() and fit != "thing"
}
"""Pronouns that are nothing else in another language or construction, so that they can be trusted in any text."""


def is_person(page: PageRef) -> bool:
    """Whether the page is about one human being, by its type or, where it has none, by its folder."""
    if page.type == "note":
        return page.slug.partition("/")[0] in _PERSON_FOLDERS
    return page.type in _PERSON_TYPES


def fits(fit: Fit, page: PageRef) -> bool:
    """Whether a pronoun of this kind can stand for the page."""
    if fit == "any":
        return True
    if fit == "they":
        return is_person(page) or page.type in _GROUP_TYPES
    return is_person(page) == (fit == "person")
