/** Square blocks of a picture that no decoder can read, by number, row by row. */
export interface LostBlocks {
  /** Width and height of a block, pixels. */
  readonly size: number;
  readonly first: number;
  /** One past the last of them. */
  readonly end: number;
}
