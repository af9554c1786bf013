package archtest

// allowed is the allow-list: findings that stay, each with its reason.
var allowed = []Allowed{}
