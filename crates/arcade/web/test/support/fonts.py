"""Makes the fonts of the page, js/lib/fonts/*.woff2: subsets for Latin and Latin Extended-A without hinting, of Inter in
weights from 400 to 700 and of Fredoka in the weight 600. Needs fonttools 4 and brotli. `npm pack` fetches the packages
@fontsource-variable/fredoka@5.3.0 and @fontsource-variable/inter@5.3.0; the argument is the folder in which each is
unpacked, in a folder with the name of its archive."""

import sys
from io import BytesIO
from pathlib import Path

from fontTools.pens.boundsPen import BoundsPen
from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.subset import Options, Subsetter, parse_unicodes, save_font
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

SOURCE = Path(sys.argv[1])
TARGET = Path(__file__).parents[2] / "js/lib/fonts"
SIGNS = "00A0,00B7,00D7,2013-2014,2018-201A,201C-201E,2026,2212"
POLISH = "00D3,00F3,0104-0107,0118-0119,0141-0144,015A-015B,0179-017C"


def font(name, part, **axes):
    file = SOURCE / f"fontsource-variable-{name}-5.3.0/package/files/{name}-{part}-wght-normal.woff2"
    instance = BytesIO()
    instantiateVariableFont(TTFont(file), axes).save(instance)
    # The subsetter expects a complete file.
    return TTFont(instance)


def write(font, name, codes, features=()):
    options = Options(flavor="woff2", hinting=False, layout_features=list(features), name_IDs=[0, 1, 2, 13, 14])
    options.drop_tables += ["gasp", "STAT"]
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=parse_unicodes(codes))
    subsetter.subset(font)
    save_font(font, TARGET / f"{name}.woff2", options)


def fredoka():
    """Fredoka has no Polish letters but ó and ł: their accents are its acute, full stop and mirrored cedilla."""
    font_, more = font("fredoka", "latin", wght=600), font("fredoka", "latin-ext", wght=600)
    glyf, widths, cmap = font_["glyf"], font_["hmtx"].metrics, font_.getBestCmap()

    def bounds(name):
        pen = BoundsPen(font_.getGlyphSet())
        font_.getGlyphSet()[name].draw(pen)
        return pen.bounds

    def add(char, pen, width):
        name, glyph = f"uni{ord(char):04X}", pen.glyph()
        font_.setGlyphOrder([*font_.getGlyphOrder(), name])
        glyf.glyphOrder = font_.getGlyphOrder()
        glyf.glyphs[name] = glyph
        glyph.recalcBounds(glyf)
        widths[name] = (width, glyph.xMin)
        for table in font_["cmap"].tables:
            table.cmap[ord(char)] = name

    def compose(char, base, mark, x, y, mirror=1):
        pen = TTGlyphPen(font_.getGlyphSet())
        base = cmap[ord(base)]
        pen.addComponent(base, (1, 0, 0, 1, 0, 0))
        pen.addComponent(mark, (mirror, 0, 0, 1, round(x), round(y)))
        add(char, pen, widths[base][0])

    def centre(name):
        left, _, right, _ = bounds(name)
        return (left + right) / 2

    for char, base in zip("ćńśźĆŃŚŹ", "cnszCNSZ"):
        like = "o" if base.islower() else "O"
        mark = next(part for part in glyf[cmap[ord("ó" if like == "o" else "Ó")]].components if part.glyphName != like)
        lift = bounds(base)[3] - bounds(like)[3]
        compose(char, base, mark.glyphName, mark.x + centre(base) - centre(like), mark.y + lift)
    for char, base, like in ["żzö", "ŻZÖ"]:
        _, low, _, high = bounds("dieresis")
        bottom = bounds(cmap[ord(like)])[3] - (high - low)
        compose(char, base, "period", centre(base) - centre("period"), bottom - bounds("period")[1])
    for char, base, part in [("ą", "a", 0.84), ("ę", "e", 0.62), ("Ą", "A", 0.86), ("Ę", "E", 0.8)]:
        left, _, right, _ = bounds(base)
        compose(char, base, "cedilla", left + (right - left) * part + centre("cedilla"), 0, -1)
    for char in "łŁŠšŽž":
        name = more.getBestCmap()[ord(char)]
        outline, pen = DecomposingRecordingPen(more.getGlyphSet()), TTGlyphPen(None)
        more.getGlyphSet()[name].draw(outline)
        outline.replay(pen)
        add(char, pen, more["hmtx"].metrics[name][0])
    complete = BytesIO()
    font_.save(complete)
    return complete


# Rare characters are apart, to keep the first page small.
display = fredoka()
write(TTFont(display), "fredoka", f"0020-003F,0041-005A,0061-007A,{SIGNS},{POLISH}", ["kern"])
rare = "0040,005B-0060,007B-007E,00A1-00A3,00AB,00B0,00BB,00BF-00D2,00D4-00D6,00D8-00F2,00F4-00FF,0152-0153,0160-0161,017D-017E"
write(TTFont(display), "fredoka-more", rare)
write(font("inter", "latin", wght=(400, 700)), "inter", f"0020-007E,00A0-00FF,0152-0153,20AC,2191,2193,{SIGNS}", ["tnum"])
write(font("inter", "latin-ext", wght=(400, 700)), "inter-more", "0100-0151,0154-017F")
