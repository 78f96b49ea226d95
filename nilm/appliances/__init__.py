"""From a solution to appliances: what each is, when it ran, what it used, what it is called."""
