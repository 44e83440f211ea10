/** How large a coded picture is once it is shown. */

/** Degrees clockwise by which the coded picture is turned to be viewed. */
export type Rotation = 0 | 90 | 180 | 270;

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A ratio such as a pixel's width to its height. */
export interface Ratio {
  readonly num: number;
  readonly den: number;
}

/**
 * The size in square pixels after the pixel's shape and the rotation are applied. The coded height is kept, as
 * players do; the width takes the pixel's shape.
 */
export function displayedSize(coded: Size, pixelAspect: Ratio, rotation: Rotation): Size {
  const width = Math.max(1, Math.round((coded.width * pixelAspect.num) / pixelAspect.den));
  const upright = { width, height: coded.height };
  return rotation === 90 || rotation === 270 ? { width: upright.height, height: upright.width } : upright;
}
