// Who chose a theme in the app has it here, too, before anything is drawn.
try {
  const theme = JSON.parse(localStorage.getItem("goldset:theme"));
  if (theme === "Light" || theme === "Dark") document.documentElement.style.colorScheme = theme.toLowerCase();
} catch { /* as the system has it */ }
