// Combines screenshots side by side into one WebP file.

/** The gap between pictures, and the largest height of a picture. */
const GAP = 16;
const TALLEST = 1100;
const QUALITY = 0.72;

/**
 * @param {import('playwright-core').Browser} browser
 * @param {{ png: string, shown: number }[]} pictures
 * @param {number} [gap]
 */
export async function sheet(browser, pictures, gap = GAP) {
  const page = await browser.newPage();
  const data = await page.evaluate(
    async ({ pictures, gap, tallest, quality }) => {
      const images = await Promise.all(
        pictures.map(async ({ png, shown }) => {
          const image = new Image();
          image.src = `data:image/png;base64,${png}`;
          await image.decode();
          return { image, shown, high: Math.min(tallest, (image.height * shown) / image.width) };
        }),
      );
      const canvas = document.createElement('canvas');
      canvas.width = images.reduce((sum, { shown }) => sum + shown + gap, gap);
      canvas.height = Math.max(...images.map(({ high }) => high)) + 2 * gap;
      const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
      context.fillStyle = '#777777';
      context.fillRect(0, 0, canvas.width, canvas.height);
      context.imageSmoothingQuality = 'high';
      let left = gap;
      for (const { image, shown, high } of images) {
        const part = (high * image.width) / shown;
        context.drawImage(image, 0, 0, image.width, part, left, gap, shown, high);
        left += shown + gap;
      }
      return canvas.toDataURL('image/webp', quality).split(',')[1];
    },
    { pictures, gap, tallest: TALLEST, quality: QUALITY },
  );
  await page.close();
  return Buffer.from(data, 'base64');
}
