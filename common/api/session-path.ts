/** Address of the current user; apart from its endpoint, because every page reads it before any schema code. */
export const CURRENT_USER_PATH = '/api/auth/user';
