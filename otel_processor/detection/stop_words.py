"""Words that carry grammar and courtesy, not content: what is left of a text without them is what it is about."""

from __future__ import annotations

_ENGLISH = """
a about after again all also am an and any are as at back be been before being both but by can could d did do does
doing done down each else few first for from further get gets getting go goes going got had has have having he her
here hers him his how however i if in into is it its itself just keep keeps let lets ll m may me might more most much
must my myself need needs next no nor not now of off ok okay on once one only onto or other our ours out over own
please re s same shall she should since so some still such sure t than thank thanks that the their theirs them then
there therefore these they this those through thus to too try trying under until up upon use using ve very want
wants was we well were what when where whether which while who whom whose why will with within without would yes yet
you your yours
"""

_SPANISH = """
a ahora al algo alguna algunas alguno algunos ante antes aquel aquella aquello aquí así aun aunque aún bajo bien cada
como con contra cual cuales cuando cuál cuándo cómo de debe debo del desde donde durante dónde e el ella ellas ello
ellos en entonces entre eran es esa esas ese eso esos esta estar estas este esto estos estoy está están fue fueron
gracias ha haber había hace hacer hacia han has hasta hay he la las le les lo los luego me mi mis misma mismo muy más
nada ni no nos nosotros nuestra nuestro nuevo o os otra otras otro otros para pero poco por porque puede puedo pues
que quien quiero quién qué se sea según ser si sido siempre sobre soy su sus sí sólo también tan tanto te tengo tiene
toda todas todo todos tu tus un una unas uno unos va vamos vez voy y ya yo él
"""

_FRENCH = """
ai alors au aucun aussi autre aux avec avoir avons c ce ceci cela ces cet cette ceux chaque comme comment d dans de
des donc dont du elle elles en encore ensuite est et eux faire fait faut il ils j je l la le les leur leurs lui là ma
mais me mes moi mon même n ne nos notre nous on ont ou où par pas peu peut plus pourquoi puis qu quand que quel quelle
qui sa sans se sera ses si soit sont sous sur ta te tes toi ton tous tout toute toutes tu un une va vais vos votre
vous y étaient était être
"""

_GERMAN = """
aber alle allem allen alles als also am an auch auf aus bei beim bin bis bist da dabei damit dann das dass dein dem
den denn der des dich dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines
er erneut es etwas euch für ganz gegen habe haben hier hin ich ihm ihn ihnen ihr ihre ihrem ihren im in ins ist ja
jede jeden jeder jetzt kann kein keine mein meine mich mir mit muss nach nicht noch nun nur ob oder ohne schon sehr
sein seine sich sie sind so soll sollte um und uns unser unter viel vom von vor waren warum was weil weiter wenn wer
werde werden wie wieder will wir wird wo zu zuerst zum zur über
"""

_PORTUGUESE = """
agora ainda ao aos aquela aquele aquilo as até cada com como da das de dela dele depois desde deve devo do e ela elas
ele eles em entre então essa essas esse esses estar este estes estou está estão eu faz fazer foi for há isso isto já
lhe mais mas me mesma mesmo meu minha muito na nas nem no nos nossa nosso novamente num numa não nós o os ou outra
outro para pela pelas pelo pelos pode por porque posso pra qual quando que quem se sem ser será seu seus sobre sua
suas são só também te tem tenho ter todo todos tu um uma umas uns vai vez você vou à às é
"""

ENGLISH_AND_SPANISH = frozenset(f"{_ENGLISH} {_SPANISH}".split())
"""In lower case; what stands behind an apostrophe is a word of its own. For short texts, where one word matters."""

STOP_WORDS = ENGLISH_AND_SPANISH | frozenset(f"{_FRENCH} {_GERMAN} {_PORTUGUESE}".split())
"""The same with French, German and Portuguese. Left out are those that mean something in another of these languages (`war`,
`die`, `son`)."""

STOP_CHARACTERS = (
    "的了我你您他她它们們是在就也和与與并並先再又把被这這那個个之会會要将將所以因此如果但而且其中对對从從到给給吧呢吗嗎啊呀"
    "很都还還没沒有请請让讓来來去时時候已经經"
)
"""The same for Chinese, which writes most such words with one of these characters."""
