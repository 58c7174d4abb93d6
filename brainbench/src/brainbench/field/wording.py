"""The words of the rows: for each several ways to say it, of which the seed takes one, so that no phrase tells a row.

Texts that only have to be there are put together from parts, and shared by all rows.
"""

from __future__ import annotations

FRAMES = ("{n} {d}", "{n} {d} on weekends", "as a hobby {n} {d}", "every spring {n} {d}", "{n} proudly {d}")
"""Ways to tell what somebody does."""
DOES = (
    ("keeps bees", "bees", "Who looks after beehives?"),
    ("plays the oboe", "oboe", "Who makes music with a woodwind?"),
    ("restores church organs", "organs", "Who mends old instruments with pipes?"),
    ("grows saffron", "saffron", "Who raises an expensive spice?"),
    ("collects barometers", "barometers", "Who gathers things that measure air pressure?"),
    ("teaches falconry", "falconry", "Who gives lessons with birds of prey?"),
    ("repairs typewriters", "typewriters", "Who fixes old writing machines?"),
    ("studies lichens", "lichens", "Who looks into what grows on stone?"),
    ("bakes pretzels", "pretzels", "Who makes salty knotted bread?"),
    ("sails a catamaran", "catamaran", "Who goes to sea on two hulls?"),
    ("translates sonnets", "sonnets", "Who puts poems of fourteen lines into other words?"),
    ("carves puppets", "puppets", "Who makes figures on strings?"),
    ("breeds alpacas", "alpacas", "Who raises animals with fine wool?"),
    ("maps caverns", "caverns", "Who draws plans of hollows underground?"),
    ("tunes carillons", "carillons", "Who sets bells to the right pitch?"),
    ("weaves tapestries", "tapestries", "Who makes pictures of thread?"),
    ("trains huskies", "huskies", "Who works with sledge dogs?"),
    ("distils gin", "gin", "Who makes a spirit with juniper?"),
    ("photographs comets", "comets", "Who takes pictures of objects with tails in the sky?"),
    ("programs looms", "looms", "Who writes code for weaving machines?"),
    ("paints icons", "icons", "Who makes holy pictures?"),
    ("rides unicycles", "unicycles", "Who gets about on one wheel?"),
    ("dries apricots", "apricots", "Who preserves an orange fruit?"),
    ("cuts stencils", "stencils", "Who makes patterns to paint through?"),
    ("rings starlings", "starlings", "Who marks animals that fly?"),
    ("casts medals", "medals", "Who makes prizes of metal?"),
    ("blows goblets", "goblets", "Who makes drinking vessels of glass?"),
    ("stitches spinnakers", "spinnakers", "Who sews for boats?"),
)
"""What somebody does, a word of it that stands in no other, and a question in other words."""
AT = ("near {p}", "above {p}", "outside {p}", "around {p}", "in old {p}", "for the {p} press", "at the {p} mill")
"""Where somebody does it."""
OWNERS = ("library", "school", "harbour", "museum", "choir", "garage", "bakery", "inn", "theatre", "clinic", "station")
OWNS = ("lends", "ordered", "bought", "insured", "rents", "keeps", "wants", "lost", "found", "hides", "painted", "sold")
THINGS = ("gates", "chimneys", "bridges", "kennels", "benches", "wells", "lamps", "stairs")
BESIDE = (
    "ladders",
    "chestnuts",
    "foghorns",
    "meteorites",
    "marquees",
    "gearboxes",
    "ovens",
    "trombones",
    "wardrobes",
    "trophies",
    "hammocks",
    "sundials",
    "turnstiles",
    "wheelbarrows",
    "periscopes",
    "zeppelins",
)
"""What is kept beside what a row is about: who has what, which nothing else speaks of."""
WHO = ("the caretaker", "a neighbour", "the night shift", "our treasurer", "the plumber", "an intern", "the new cook")
DID = ("moved", "counted", "wrapped", "labelled", "washed", "photographed", "carried off", "sorted", "weighed", "hid")
WHAT = ("the grey chairs", "two crates", "some letters", "the blankets", "some screws", "the old maps", "six jars")
WHEN = ("before lunch", "on the stairs", "once more", "in the rain", "without a word", "by the back door")
"""Parts of sentences about nothing: who did what to what, and when."""
QUESTIONS = (
    "What about {n} and the {w}?",
    "What is it with {n} and the {w}?",
    "Do you recall {n} and the {w}?",
    "Was it {n} with the {w}?",
)
ABOUT = ("What do we know about {n}?", "Tell me about {n}, will you?", "Who is {n}?", "Anything on {n}?")
HOMES = (
    ("I live in {t}", "where do I live"),
    ("my flat is in {t}", "where is my flat"),
    ("my dentist is in {t}", "where is my dentist"),
    ("I was born in {t}", "where was I born"),
    ("my boat lies in {t}", "where does my boat lie"),
)
"""What two users say in the same words, and the question of one of them."""
NEARLY = (("notes", "nots"), ("recipes", "recips"), ("travel", "travl"), ("garden", "gardn"), ("letters", "leters"))
"""How a scope begins, and how it is misspelt."""
RULES = (
    ("use {w} for indentation in {t}", "indentation", ("tabs", "two spaces", "four spaces")),
    ("name branches after {w} in {t}", "branches", ("rivers", "tickets", "months")),
    ("write docstrings in {w} for {t}", "docstrings", ("Danish", "one line", "full sentences")),
    ("sign releases of {t} with {w}", "releases", ("two keys", "the old key", "initials")),
)
"""A rule of a project, the word to ask for it, and what may be ruled."""
PLACES = ("bakery", "shipyard", "brewery", "foundry", "nursery", "quarry", "pharmacy", "sawmill", "bank", "tannery")
WORKS = (
    "{n} works at a {p} in {t}",
    "{n} has a job in the {p} of {t}",
    "the {p} of {t} employs {n}",
    "{n} is foreman of a {p} near {t}",
)
SETTINGS = (
    (
        "the SSH port of the {n} box is {old}",
        "moved the {n} box: SSH listens on {new} now",
        "what SSH port does the {n} box use",
    ),
    (
        "the {n} lift takes {old} kilos",
        "the {n} lift was tested again: it takes {new} kilos now",
        "how many kilos does the {n} lift take",
    ),
    (
        "the code of the {n} gate is {old}",
        "the {n} gate has a new lock: its code {new} holds now",
        "what is the code of the {n} gate",
    ),
    (
        "the {n} meeting has {old} seats",
        "the {n} meeting moved: {new} seats are in the new hall",
        "how many seats has the {n} meeting",
    ),
    (
        "the phone number of the {n} office is {old}",
        "the {n} office changed its number: call {new} from now on",
        "what is the phone number of the {n} office",
    ),
    (
        "the {n} archive is in room {old}",
        "since the move the {n} archive has room {new}",
        "in which room is the {n} archive",
    ),
    (
        "the {n} bus leaves from stop {old}",
        "the {n} bus was moved: it leaves from stop {new} now",
        "from which stop does the {n} bus leave",
    ),
)
"""A value, a later one in other words, and a question worded like the first."""
ASSIGNED = (
    ("{n} is assigned to {a}", "{n} was moved from {a} to {b}", "{n} assigned"),
    ("{n} reports to the {a} desk", "{n} went from the {a} desk to the {b} desk", "{n} desk"),
    ("{n} maintains the {a} depot", "{n} left the {a} depot for the {b} depot", "{n} depot"),
)
"""Where somebody is, where next, and the question."""
ADDITIVE = (
    ("{n} is employed by {f}", "{n} administers the code host of {f}", "{n} uses Vim"),
    ("{n} is married to a doctor of {f}", "{n} coaches the rowers of {f}", "{n} is afraid of geese"),
    ("{n} owns a house in {f}", "{n} rents out a garage in {f}", "{n} reads maps for fun"),
)
"""Three things that are all true of somebody."""
TEAMS = (
    ("{n} is on the {a} team", "{n} team"),
    ("{n} sits with the {a} group", "{n} group"),
    ("{n} sings in the {a} choir", "{n} choir"),
)
"""What somebody belongs to, and the question."""
HYPHENS = ("pre-edit", "re-entry", "co-option", "on-call")
APOSTROPHES = (
    ("{n} says don't touch the valve", "don't touch the valve"),
    ("{n} can't reach the shelf", "can't reach the shelf"),
    ("{n} knows it isn't the fuse", "isn't the fuse"),
)
FORMS = (
    (("Zoë Ångström", "zoe angstrom"), ("Renée Müller", "renee muller"), ("Jiří Dvořák", "jiri dvorak")),
    (("İrem", "irem"), ("İlkay", "ilkay"), ("İnci", "inci")),
    (("Straße", "strasse"), ("Gießerei", "giesserei"), ("Schloß", "schloss")),
    (("ＡＢＣ", "abc"), ("ＸＹＺ", "xyz"), ("ＱＲＳ", "qrs")),
)
"""By kind of form names and how somebody types them: marks, a dotted capital, a double s, wide letters."""
OF_FORMS = (
    (
        "{} mends kites in {t}",
        "{} runs the {t} night bus",
        "the {} to {t} is closed",
        "locker {} in {t} holds the skis",
    ),
    ("{} folds boats in {t}", "{} opens the {t} pool", "they repaved the {} of {t}", "shelf {} in {t} has the tents"),
)
"""A sentence for a name of each kind."""
LIKES = ("{n} likes {w}", "{n} ordered {w}", "{n} asked for {w}")
LIKED = ("crème", "purée", "rosé", "consommé", "sauté", "fondé")
TURNING = (
    (
        ("whenever the tests of {t} fail, page {n}", "tests"),
        ("never start the pump of {t} before {n} is there", "pump"),
    ),
    (("you don't need to remind {n} about lunch", "lunch"), ("there is no need to wake {n} for the tide", "tide")),
    (
        ("not until {n} has signed may the {t} gate be opened", "gate"),
        ("only if {n} agrees is the {t} safe emptied", "safe"),
    ),
)
"""Sentences whose meaning turns when a part is lost, with a word of each."""
PEOPLE = (
    ("王小雨", "王小雨在云川科技做会计", "王小雨每天骑车去渡口"),
    ("Źrebiec", "Łukasz Źrebiec mieszka w Świdnicy", "Łukasz Źrebiec naprawia zegary"),
    ("Жаркова", "Ольга Жаркова ведёт кружок", "Ольга Жаркова чинит часы"),
    ("Ψαράς", "Γιώργος Ψαράς επισκευάζει βάρκες", "Γιώργος Ψαράς πουλάει σύκα"),
    ("القصبي", "نادية القصبي تعلّم الخط العربي", "نادية القصبي تصلح الساعات"),
    ("त्रिवेदी", "रजनी त्रिवेदी सितार बजाती है", "रजनी त्रिवेदी पतंग बनाती है"),
)
"""Names in their scripts, each with things to say of whom."""
GLUED = (
    "昨天重跑{}后通过",
    "今天{}失败了三次",
    "请把{}的日志发给我",
    "已经回滚{}到上周",
    "他说{}需要更多内存",
    "我们删除{}的缓存",
    "下午再试{}一遍吧",
    "先别动{}的配置",
    "谁知道{}为什么停了",
)
"""Sentences with room for an identifier."""
GLUED_NAMES = ("build", "job", "run", "gen", "task", "node", "shard")
TITLES = ("季度计划", "旅行清单", "🚀", "🎯", "家計簿", "здоровье", "🌵", "회의록", "Εξοχή")
"""Titles of which nothing is left when only a-z and digits are kept."""
SECRET_TURNS = (
    (
        "deploy {t} with {key} please, and clone with {token}",
        "the database of {t} is {address}",
        ("deploy {t} with", "the database of {t} is"),
    ),
    (
        "for {t} the service wants {key}, the checkout {token}",
        "connect to {address} when you are in {t}",
        ("for {t} the service wants", "when you are in {t}"),
    ),
    (
        "I pasted {key} and {token} into the form of {t}",
        "staging in {t}: {address}",
        ("into the form of {t}", "staging in {t}"),
    ),
)
"""Two messages with credentials, and what of them must stay."""
DECOYS = (
    ("there is no API key in the build", "apiKey: env.KEY"),
    ("nobody has the API key here", "token: process.env.TOKEN"),
    ("the password is missing in the form", "api_key: ${API_KEY}"),
)
"""What only looks like a credential."""
