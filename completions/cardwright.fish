# fish completion for cardwright. Generated; printed by: cardwright completion fish
function __cardwright_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct | string unescape)
    set -l answers (command cardwright __complete fish $words "$current" 2>/dev/null)
    if test "$answers" = :files
        set -l before (string match -r -- '^--[^=]*=' "$current")
        for path in (__fish_complete_path (string replace -r -- '^--[^=]*=' '' "$current"))
            echo "$before$path"
        end
    else if set -q answers[1]
        printf '%s\n' $answers
    end
end
complete -c cardwright -f -a '(__cardwright_complete)'
