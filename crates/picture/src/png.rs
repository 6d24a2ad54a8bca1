use std::sync::{Arc, LazyLock};

use anyhow::{Context, anyhow};
use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{Node, Options, Tree, fontdb::Database},
};

use crate::{INK, Picture, Text};

/// Roboto, reduced to the characters that charts need. See `fonts/README.md`.
const FONTS: [&[u8]; 2] = [include_bytes!("../fonts/Roboto-Regular.ttf"), include_bytes!("../fonts/Roboto-Bold.ttf")];

static DATABASE: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut database = Database::new();
    for font in FONTS {
        database.load_font_data(font.to_vec());
    }
    Arc::new(database)
});

fn parse(svg: &str) -> anyhow::Result<Tree> {
    let options = Options { fontdb: Arc::clone(&DATABASE), font_family: "Roboto".to_owned(), ..Options::default() };
    Tree::from_str(svg, &options).context("cannot render the picture")
}

pub(crate) fn write(picture: &Picture) -> anyhow::Result<Vec<u8>> {
    let scale = Picture::SCALE;
    let (width, height) = (u32::from(picture.width) * u32::from(scale), u32::from(picture.height) * u32::from(scale));
    render(&parse(&picture.to_svg())?, (width, height), f32::from(scale))
}

pub(crate) fn square(svg: &str, pixels: u16) -> anyhow::Result<Vec<u8>> {
    let tree = parse(svg)?;
    let scale = f32::from(pixels) / tree.size().width();
    render(&tree, (pixels.into(), pixels.into()), scale)
}

fn render(tree: &Tree, (width, height): (u32, u32), scale: f32) -> anyhow::Result<Vec<u8>> {
    let mut pixels = Pixmap::new(width, height).context("cannot render the picture: it is too large")?;
    resvg::render(tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| anyhow!("cannot write the PNG: {error}"))
}

/// As rendered, with letters of this size.
pub(crate) fn text_width(text: &str, size: f32, bold: bool) -> anyhow::Result<f32> {
    let mut picture = Picture::new(1, 1, "", "");
    picture.text(Text { bold, ..Text::new((0.0, 0.0), size, INK, text) });
    let tree = parse(&picture.to_svg())?;
    let texts = tree.root().children().iter().filter(|node| matches!(node, Node::Text(_)));
    Ok(texts.map(|text| text.abs_bounding_box().width()).fold(0.0, f32::max))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rgb, WHITE};

    fn rendered(draw: impl FnOnce(&mut Picture)) -> Vec<Rgb> {
        let mut picture = Picture::new(20, 10, "", "");
        draw(&mut picture);
        let pixels = Pixmap::decode_png(&picture.to_png().unwrap()).unwrap();
        assert_eq!((pixels.width(), pixels.height()), (40, 20));
        pixels.pixels().iter().map(|pixel| Rgb(pixel.red(), pixel.green(), pixel.blue())).collect()
    }

    #[test]
    fn shapes_are_rendered_at_twice_the_size_on_white() {
        let red = Rgb(200, 0, 0);
        let pixels = rendered(|picture| {
            picture.rectangle([1.0, 1.0, 2.0, 2.0], 0.0, Some(red), None);
            picture.rectangle([8.0, 3.0, 50.0, 50.0], 0.0, Some(red), None);
        });
        for (index, colour) in pixels.into_iter().enumerate() {
            let (row, column) = (index / 40, index % 40);
            let inside = (2..6).contains(&row) && (2..6).contains(&column) || row >= 6 && column >= 16;
            assert_eq!(colour, if inside { red } else { WHITE }, "row {row}, column {column}");
        }
    }

    #[test]
    fn the_typeface_has_every_letter_of_the_charts() {
        for bold in [false, true] {
            // A missing letter is shown as a box, like this one.
            let missing = |letter: char| {
                let drawn = |letter: char| {
                    rendered(|picture| picture.text(Text { bold, ..Text::new((4.0, 9.0), 9.0, INK, letter) }))
                };
                drawn(letter) == drawn('\u{2603}')
            };
            for letter in ('!'..='~').chain("\u{2212}\u{2013}\u{b1}\u{b7}\u{d7}\u{2265}\u{2026}".chars()) {
                assert!(!missing(letter), "{letter:?}");
            }
        }
    }

    #[test]
    fn widths_are_those_of_the_letters() {
        let width = |text, bold| text_width(text, 10.0, bold).unwrap();
        assert!(width("WWW", false) > width("iii", false) + 10.0);
        assert!(width("exact", true) > width("exact", false));
        assert!((text_width("exact", 20.0, false).unwrap() - 2.0 * width("exact", false)).abs() < 0.1);
    }
}
