/**
 * Motion of a part of a picture: how far right and down its content stands in the picture that it is predicted from,
 * quarters of a pixel.
 */
export interface Moved {
  readonly x: number;
  readonly y: number;
}

/** Motion of a square of luma, by its left and upper edge and its side, pixels. */
export type SquareMotion = (x: number, y: number, size: number) => Moved;
