// Sets the stored theme before the first paint; the key and the values are those of web/data/theme-choice.ts.
(function () {
  try {
    const choice = localStorage.getItem('reelmend-theme');
    if (choice === 'light' || choice === 'dark') document.documentElement.dataset.theme = choice;
  } catch {
    // Storage may be blocked: the system's choice stands.
  }
})();
