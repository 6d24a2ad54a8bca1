//! A picture as PNG.

use zeno::{Cap, Command, Fill, Join, Mask, PathBuilder, Stroke, Style, Transform};

use super::{Fonts, Pen, Picture, PngError, Rgb, Shape};

pub(super) fn write(picture: &Picture) -> Result<Vec<u8>, PngError> {
    let fonts = Fonts::new()?;
    let scale = u32::from(Picture::SCALE);
    let mut canvas = Canvas::new(u32::from(picture.width) * scale, u32::from(picture.height) * scale);
    canvas.draw(&picture.shapes, &fonts);
    let mut bytes = vec![];
    let mut encoder = png::Encoder::new(&mut bytes, canvas.width, canvas.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let pixels: Vec<u8> = canvas.pixels.iter().flat_map(|&Rgb(red, green, blue)| [red, green, blue]).collect();
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&pixels)?;
    writer.finish()?;
    Ok(bytes)
}

struct Canvas {
    width: u32,
    height: u32,
    pixels: Vec<Rgb>,
}

impl Canvas {
    fn new(width: u32, height: u32) -> Self {
        // Two numbers of 17 bits at most.
        let pixels = vec![Rgb(255, 255, 255); width as usize * height as usize];
        Self { width, height, pixels }
    }

    fn draw(&mut self, shapes: &[Shape], fonts: &Fonts) {
        for shape in shapes {
            let mut path: Vec<Command> = vec![];
            match shape {
                Shape::Rectangle { place: [x, y, width, height], radius, fill, pen } => {
                    path.add_round_rect([*x, *y], *width, *height, *radius, *radius);
                    self.paint(&path, *fill, pen.as_ref());
                }
                Shape::Path { points, fill, pen } => {
                    for (at, &(x, y)) in points.iter().enumerate() {
                        if at == 0 {
                            path.move_to([x, y])
                        } else {
                            path.line_to([x, y])
                        };
                    }
                    if fill.is_some() {
                        path.close();
                    }
                    self.paint(&path, *fill, pen.as_ref());
                }
                Shape::Circle { at: (x, y), radius, fill } => {
                    path.add_circle([*x, *y], *radius);
                    self.paint(&path, Some(*fill), None);
                }
                Shape::Text(text) => self.paint(&fonts.outline(text), Some(text.colour), None),
                Shape::Group { shapes, .. } => self.draw(shapes, fonts),
            }
        }
    }

    fn paint(&mut self, path: &[Command], fill: Option<Rgb>, pen: Option<&Pen>) {
        if let Some(colour) = fill {
            self.cover(path, Fill::NonZero.into(), colour, 1.0);
        }
        if let Some(Pen { colour, width, opacity, dashes }) = pen {
            let mut stroke = Stroke::new(*width);
            stroke.join(Join::Round).cap(Cap::Butt).dash(dashes, 0.0);
            self.cover(path, stroke.into(), *colour, *opacity);
        }
    }

    // Blends a colour in where a path covers the canvas.
    fn cover(&mut self, path: &[Command], style: Style<'_>, colour: Rgb, opacity: f32) {
        let scale = f32::from(Picture::SCALE);
        let (mask, placed) = Mask::new(path).style(style).transform(Some(Transform::scale(scale, scale))).render();
        if placed.width == 0 {
            return;
        }
        for (row, line) in (i64::from(placed.top)..).zip(mask.chunks_exact(placed.width as usize)) {
            for (column, &covered) in (i64::from(placed.left)..).zip(line) {
                if covered > 0
                    && let Some(pixel) = self.pixel(column, row)
                {
                    *pixel = blend(*pixel, colour, f32::from(covered) / 255.0 * opacity);
                }
            }
        }
    }

    // Shapes may reach beyond the canvas.
    fn pixel(&mut self, column: i64, row: i64) -> Option<&mut Rgb> {
        let column = u32::try_from(column).ok().filter(|&column| column < self.width)?;
        let row = u32::try_from(row).ok().filter(|&row| row < self.height)?;
        self.pixels.get_mut(row as usize * self.width as usize + column as usize)
    }
}

// As browsers blend, which is what the same picture as SVG looks like.
fn blend(below: Rgb, above: Rgb, share: f32) -> Rgb {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between two bytes, which rounding keeps it"
    )]
    let mix = |below: u8, above: u8| (f32::from(below) + (f32::from(above) - f32::from(below)) * share).round() as u8;
    Rgb(mix(below.0, above.0), mix(below.1, above.1), mix(below.2, above.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_cover_what_they_should_and_nothing_beyond_the_canvas() {
        let mut canvas = Canvas::new(20, 10);
        let red = Rgb(200, 0, 0);
        let rectangle = |place| Shape::Rectangle { place, radius: 0.0, fill: Some(red), pen: None };
        canvas.draw(&[rectangle([1.0, 1.0, 2.0, 2.0]), rectangle([8.0, 3.0, 50.0, 50.0])], &Fonts::new().unwrap());
        let painted: Vec<(usize, usize)> = (0..10)
            .flat_map(|row| (0..20).map(move |column| (row, column)))
            .filter(|(row, column)| canvas.pixels[row * 20 + column] == red)
            .collect();
        let expected: Vec<(usize, usize)> = (0..10)
            .flat_map(|row| (0..20).map(move |column| (row, column)))
            .filter(|(row, column)| (2..6).contains(row) && (2..6).contains(column) || *row >= 6 && *column >= 16)
            .collect();
        assert_eq!(painted, expected);
    }

    #[test]
    fn half_covered_is_half_blended() {
        assert_eq!(blend(Rgb(255, 255, 255), Rgb(0, 0, 0), 0.5), Rgb(128, 128, 128));
        assert_eq!(blend(Rgb(1, 2, 3), Rgb(200, 100, 50), 1.0), Rgb(200, 100, 50));
    }
}
