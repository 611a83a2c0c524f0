/** Two letters for the avatar: from the user name, else the email, else U (specification section 2). */
export function initialsOf(user: { readonly username?: string; readonly email?: string }): string {
  const source = user.username || user.email || 'U';
  return source.slice(0, 2).toUpperCase();
}
