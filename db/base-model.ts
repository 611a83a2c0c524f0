import { randomBytes } from 'node:crypto';
import { Model, type Pojo } from 'objection';

/** 20 random bytes in base64url: 27 characters, not guessable, safe in URLs and file names. */
export function newId(): string {
  return randomBytes(20).toString('base64url');
}

/**
 * Base of all models. Gives the same row values from both engines: SQLite returns booleans as 0/1, and both return JSON
 * as unparsed text because the columns are `text`. Fields are written with `declare`; otherwise they would become own
 * `undefined` properties of every row.
 */
export class BaseModel extends Model {
  /** Columns that contain booleans. */
  static booleanColumns: readonly string[] = [];

  static override get useLimitInFirst() {
    return true;
  }

  override $parseDatabaseJson(json: Pojo): Pojo {
    const row = super.$parseDatabaseJson(json);
    const type = this.constructor;
    const columns = 'booleanColumns' in type && Array.isArray(type.booleanColumns) ? type.booleanColumns : [];
    for (const column of columns) {
      if (typeof row[column] === 'number') row[column] = row[column] !== 0;
    }
    return row;
  }
}
