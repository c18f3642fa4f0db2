# PowerShell completion for cardwright. Generated; printed by: cardwright completion powershell
Register-ArgumentCompleter -Native -CommandName cardwright -ScriptBlock {
    param($word, $tree, $cursor)
    $typed = ''
    $words = @(foreach ($element in $tree.CommandElements | Select-Object -Skip 1) {
        $extent = $element.Extent
        if ($extent.EndOffset -lt $cursor) { if ($element -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $element.Value } else { $extent.Text } }
        elseif ($extent.StartOffset -lt $cursor) { $typed = $extent.Text.Substring(0, $cursor - $extent.StartOffset).TrimStart('"', "'") }
    })
    # In base64, because a word may pass cmd.exe on its way, which would run what stands in it.
    $asked = [Convert]::ToBase64String([Text.Encoding]::UTF8.GetBytes((@($words) + $typed) -join [char]0))
    $answers = @(& (Get-Command cardwright -CommandType Application, ExternalScript -TotalCount 1) __complete powershell $asked 2>$null)
    # An empty text is no candidate, and keeps the shell from offering file names.
    if ($answers.Count -eq 0) { return '' }
    if ($answers[0] -eq ':files') {
        $before = if ($typed -match '^--[^=]*=') { $Matches[0] } else { '' }
        return [System.Management.Automation.CompletionCompleters]::CompleteFilename($typed.Substring($before.Length)) |
            ForEach-Object { [System.Management.Automation.CompletionResult]::new($before + $_.CompletionText, $_.ListItemText, $_.ResultType, $_.ToolTip) }
    }
    # The shell replaces only what stands behind a comma.
    $word = $word.TrimStart('"', "'")
    $broken = if ($typed.EndsWith($word)) { $typed.Length - $word.Length } else { 0 }
    foreach ($answer in $answers) {
        $value, $means = $answer.Split([char]9, 2)
        $text = if ($value -match '^[A-Za-z0-9._:/=-]+$') { $value.Substring($broken) } else { "'" + $value.Substring($broken) + "'" }
        [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $(if ($means) { $means } else { $value }))
    }
}
