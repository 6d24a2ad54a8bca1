//! A picture as SVG.

use std::fmt::Write;

use super::{Anchor, Pen, Picture, Rgb, Shape, Text};

// The typeface of the PNG first, then what looks much like it on most machines.
const FAMILY: &str = "Roboto, 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif";

pub(super) fn write(picture: &Picture) -> String {
    let Picture { width, height, title, description, shapes } = picture;
    let (title, description) = (escape(title), escape(description));
    // Writing to a string cannot fail, here and below.
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"title description\" font-family=\"{FAMILY}\">\n\
         <title id=\"title\">{title}</title>\n\
         <desc id=\"description\">{description}</desc>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>"
    );
    for shape in shapes {
        element(&mut svg, shape);
    }
    svg + "</svg>\n"
}

fn element(svg: &mut String, shape: &Shape) {
    match shape {
        Shape::Rectangle { place: [x, y, width, height], radius, fill, pen } => {
            let [x, y, width, height, radius] = [x, y, width, height, radius].map(|length| number(*length));
            let _ = write!(svg, "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{radius}\"");
            paint(svg, *fill, pen.as_ref());
            *svg += "/>\n";
        }
        Shape::Path { points, fill, pen } => {
            let points: Vec<String> = points.iter().map(|&(x, y)| format!("{},{}", number(x), number(y))).collect();
            let kind = if fill.is_some() { "polygon" } else { "polyline" };
            let _ = write!(svg, "<{kind} points=\"{}\"", points.join(" "));
            paint(svg, *fill, pen.as_ref());
            *svg += "/>\n";
        }
        Shape::Circle { at: (x, y), radius, fill } => {
            let [x, y, radius] = [x, y, radius].map(|length| number(*length));
            let _ = write!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"");
            paint(svg, Some(*fill), None);
            *svg += "/>\n";
        }
        Shape::Text(text) => letters(svg, text),
        Shape::Group { class, says, shapes } => {
            let _ = writeln!(svg, "<g class=\"{class}\"><title>{}</title>", escape(says));
            for shape in shapes {
                element(svg, shape);
            }
            *svg += "</g>\n";
        }
    }
}

fn letters(svg: &mut String, text: &Text) {
    let Text { at: (x, y), anchor, size, bold, colour, upwards, words } = text;
    let [x, y, size] = [x, y, size].map(|length| number(*length));
    let _ = write!(svg, "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{}\"", hexadecimal(*colour));
    *svg += match anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    if *bold {
        *svg += " font-weight=\"bold\"";
    }
    if *upwards {
        let _ = write!(svg, " transform=\"rotate(-90 {x} {y})\"");
    }
    let _ = writeln!(svg, ">{}</text>", escape(words));
}

fn paint(svg: &mut String, fill: Option<Rgb>, pen: Option<&Pen>) {
    let _ = write!(svg, " fill=\"{}\"", fill.map_or_else(|| "none".to_owned(), hexadecimal));
    let Some(Pen { colour, width, opacity, dashes }) = pen else { return };
    let _ = write!(svg, " stroke=\"{}\" stroke-width=\"{}\"", hexadecimal(*colour), number(*width));
    *svg += " stroke-linejoin=\"round\"";
    if *opacity < 1.0 {
        let _ = write!(svg, " stroke-opacity=\"{}\"", number(*opacity));
    }
    if !dashes.is_empty() {
        let dashes: Vec<String> = dashes.iter().map(|length| number(*length)).collect();
        let _ = write!(svg, " stroke-dasharray=\"{}\"", dashes.join(" "));
    }
}

fn hexadecimal(Rgb(red, green, blue): Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

// At most two digits behind the point, which is finer than any screen.
fn number(length: f32) -> String {
    let text = format!("{length:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

// As XML takes it; what XML has no place for at all becomes the sign for that.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' | '\t' => escaped.push(' '),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            control if control.is_control() => escaped.push('\u{fffd}'),
            plain => escaped.push(plain),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_becomes_these_elements() {
        let black = Rgb(0, 0, 0);
        let shapes = vec![
            Shape::Group {
                class: "cell",
                says: "a < b & \"c\"\u{1}".to_owned(),
                shapes: vec![Shape::Rectangle {
                    place: [1.0, 2.5, 30.0, 40.126],
                    radius: 3.0,
                    fill: Some(Rgb(255, 128, 1)),
                    pen: None,
                }],
            },
            Shape::Path {
                points: vec![(0.0, -0.001), (10.0, 20.0)],
                fill: None,
                pen: Some(Pen { opacity: 0.5, dashes: &[4.0, 2.0], ..Pen::new(black, 1.5) }),
            },
            Shape::Circle { at: (5.0, 6.0), radius: 2.0, fill: black },
            Shape::Text(Text {
                at: (7.0, 8.0),
                anchor: Anchor::Middle,
                size: 14.0,
                bold: true,
                colour: black,
                upwards: true,
                words: "16 & more".to_owned(),
            }),
        ];
        let picture = Picture { width: 100, height: 50, title: "T".into(), description: "D".into(), shapes };
        let expected = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100\" height=\"50\" viewBox=\"0 0 100 50\" \
             role=\"img\" aria-labelledby=\"title description\" font-family=\"Roboto, 'Helvetica Neue', Arial, \
             'Liberation Sans', sans-serif\">\n\
             <title id=\"title\">T</title>\n\
             <desc id=\"description\">D</desc>\n\
             <rect width=\"100\" height=\"50\" fill=\"#ffffff\"/>\n\
             <g class=\"cell\"><title>a &lt; b &amp; &quot;c&quot;\u{fffd}</title>\n\
             <rect x=\"1\" y=\"2.5\" width=\"30\" height=\"40.13\" rx=\"3\" fill=\"#ff8001\"/>\n\
             </g>\n\
             <polyline points=\"0,0 10,20\" fill=\"none\" stroke=\"#000000\" stroke-width=\"1.5\" \
             stroke-linejoin=\"round\" stroke-opacity=\"0.5\" stroke-dasharray=\"4 2\"/>\n\
             <circle cx=\"5\" cy=\"6\" r=\"2\" fill=\"#000000\"/>\n\
             <text x=\"7\" y=\"8\" font-size=\"14\" fill=\"#000000\" text-anchor=\"middle\" font-weight=\"bold\" \
             transform=\"rotate(-90 7 8)\">16 &amp; more</text>\n\
             </svg>\n";
        assert_eq!(picture.to_svg(), expected);
    }
}
