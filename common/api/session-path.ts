/**
 * Address of the current user; separate from its endpoint, because every page reads it before loading any schema code.
 */
export const CURRENT_USER_PATH = '/api/auth/user';
