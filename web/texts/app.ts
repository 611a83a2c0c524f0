import { MESSAGES } from '#common/messages.ts';

/** Texts of the frame around all pages: header, footer, gate, not found. */
export const appTexts = {
  product: 'Reelmend',
  loading: 'Loading...',
  unreachable: 'Reelmend cannot be reached right now. Trying again...',
  noAnswer: 'Reelmend cannot be reached right now: no connection.',
  skip: 'Skip to content',
  retry: 'Retry',
  pageFailed: 'This page could not be loaded.',
  pageAway:
    'Reelmend cannot be reached right now. This page opens by itself as soon as it is back; uploads wait too.',
  pageReplaced: 'Reelmend may have been updated meanwhile. Reload to get the new version.',
  reload: 'Reload',
  stray: 'Nothing was taken here',
  strayDetail:
    'Bring clips in on the first page, in an area with a dashed border. While one sends, the other takes more.',
  tagline: 'Never lose another video draft',

  nav: {
    main: 'Main',
    home: 'Home',
    upload: 'Upload',
    pricing: 'Pricing',
    videos: 'My Videos',
    ideas: 'Nice2Have',
    signIn: 'Sign In',
    signOut: 'Sign out',
    signingOut: 'Signing out...',
    account: 'Account',
    settings: 'Settings',
    settingsSoon: 'Coming soon',
    openMenu: 'Open menu',
    closeMenu: 'Close menu',
    userMenu: (name: string) => `Account of ${name}`,
    social: {
      tiktok: 'TikTok (short videos)',
      youtube: 'YouTube (videos)',
      x: 'X (microblog)',
      instagram: 'Instagram (photos)',
    },
  },
  theme: {
    group: 'Colour theme',
    system: 'System theme',
    light: 'Light theme',
    dark: 'Dark theme',
  },
  bell: {
    label: (unread: number) => (unread === 0 ? 'Notifications' : `Notifications, ${unread} unread`),
    title: 'Notifications',
    unread: 'Unread',
    empty: 'Nothing yet. Finished and failed repairs appear here.',
  },
  logout: {
    success: 'Logged out successfully',
    successDetail: MESSAGES.signedOut,
    failed: 'Logout failed',
    failedDetail: 'There was an error signing you out. Please try again.',
  },
  dialogClose: 'Close',
  toast: { close: 'Close message', region: 'Messages' },
  stale: {
    long: 'Could not refresh. This is the last known state.',
    short: 'Could not refresh',
    retry: 'Retry',
  },
  push: {
    live: 'Live',
    reconnecting: 'Reconnecting...',
    polling: 'Updating every 2 s',
  },
  footer: {
    soon: 'Coming soon',
    columns: [
      { title: 'Product', links: ['Features', 'Pricing', 'Templates', 'What is new'] },
      { title: 'Support', links: ['Help center', 'Contact', 'Status', 'Community'] },
      { title: 'Company', links: ['About', 'Blog', 'Careers', 'Press'] },
      { title: 'Legal', links: ['Privacy', 'Terms', 'Cookies', 'Licences'] },
    ],
    rights: (year: number) => `© ${year} Reelmend. Broken clips, visibly mended.`,
  },
  notFound: {
    title: '404 Page Not Found',
    text: 'There is no page at this address. The thread ends here.',
    home: 'Back to Home',
  },
} as const;
